// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/**
 * A key and a certificate for 127.0.0.1 that nobody but its trust store trusts, made by the JDK's keytool.
 *
 * @param keyStore PKCS#12, which has both
 * @param trustStore PKCS#12, which has the certificate
 * @param password of the two
 * @param certificate in PEM
 * @param key in PEM
 */
public record Certificates(Path keyStore, Path trustStore, String password, Path certificate, Path key) {

    private static final String PASSWORD = "changeit";

    /** Makes them. */
    public static Certificates make(Path directory) throws IOException, InterruptedException, GeneralSecurityException {
        Path file = directory.resolve("server.p12");
        keytool("-genkeypair -alias server -keyalg RSA -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 -validity 30 "
                + "-storetype"
                + " PKCS12 -storepass " + PASSWORD + " -keystore " + file);
        char[] password = PASSWORD.toCharArray();
        KeyStore server = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            server.load(in, password);
        }
        Certificate certificate = server.getCertificate("server");
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, password);
        trust.setCertificateEntry("server", certificate);
        Path trustStore = directory.resolve("trust.p12");
        try (OutputStream out = Files.newOutputStream(trustStore)) {
            trust.store(out, password);
        }
        return new Certificates(
                file,
                trustStore,
                PASSWORD,
                pem(directory.resolve("server.pem"), "CERTIFICATE", certificate.getEncoded()),
                pem(
                        directory.resolve("server.key"),
                        "PRIVATE KEY",
                        server.getKey("server", password).getEncoded()));
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

    private static Path pem(Path file, String what, byte[] content) throws IOException {
        return Files.writeString(
                file,
                "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END "
                        + what + "-----\n");
    }

    /** The configuration of a server that speaks TLS at that port. */
    public List<String> settings(int port) {
        return List.of(
                "tls-port " + port,
                "tls-cert-file " + certificate,
                "tls-key-file " + key,
                "tls-ca-cert-file " + certificate,
                "tls-auth-clients no");
    }
}
