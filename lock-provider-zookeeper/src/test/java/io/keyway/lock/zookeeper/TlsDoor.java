// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Speaks TLS before a server that does not, and wants to see a certificate of its clients. There is one key for all,
 * made by the JDK's keytool, which nobody trusts who does not know it.
 */
final class TlsDoor implements AutoCloseable {
    static final String PASSWORD = "changeit";

    private final Path store;
    private final SSLServerSocket door;
    private final int behind;

    TlsDoor(Path directory, String address) throws IOException, InterruptedException, GeneralSecurityException {
        store = directory.resolve("keys.p12");
        behind = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
        keytool("-genkeypair -alias door -keyalg RSA -dname CN=localhost -ext san=dns:localhost,ip:127.0.0.1 -validity "
                + "30"
                + " -storetype PKCS12 -storepass " + PASSWORD + " -keystore " + store);
        // A certificate of its own, which is trusted.
        keytool("-exportcert -alias door -storepass " + PASSWORD + " -keystore " + store + " -file "
                + directory.resolve("door.crt"));
        keytool("-importcert -noprompt -alias trusted -storetype PKCS12 -storepass " + PASSWORD + " -keystore "
                + trustStore() + " -file " + directory.resolve("door.crt"));
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(store), PASSWORD.toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(load(trustStore()));
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        door = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        door.setNeedClientAuth(true);
        start(() -> {
            while (true) {
                Socket in = door.accept();
                Socket out = new Socket(InetAddress.getLoopbackAddress(), behind);
                start(() -> pump(in, out));
                start(() -> pump(out, in));
            }
        });
    }

    String address() {
        return "127.0.0.1:" + door.getLocalPort();
    }

    /** Whom to trust, and nothing else. */
    Path trustStore() {
        return store.resolveSibling("trust.p12");
    }

    /** The key that the door trusts. */
    Path keyStore() {
        return store;
    }

    private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private static void keytool(String words) throws InterruptedException {
        String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        try (ChildProcess process = ChildProcess.start(new ProcessBuilder(
                Stream.concat(Stream.of(tool), Stream.of(words.split(" ", -1))).toList()))) {
            if (process.exitCode() != 0) {
                throw new AssertionError(process.out() + process.err());
            }
        }
    }

    private static void pump(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // One of both has closed it, or the door is closed.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        door.close();
    }
}
