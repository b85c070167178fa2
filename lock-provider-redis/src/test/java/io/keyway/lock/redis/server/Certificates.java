// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/**
 * A key and a certificate for 127.0.0.1 that nobody but its trust store trusts, made by the JDK's keytool.
 *
 * @param trustStore PKCS#12, which has the certificate
 * @param password of the trust store
 * @param certificate in PEM
 * @param key in PEM
 */
public record Certificates(Path trustStore, String password, Path certificate, Path key) {

    private static final String PASSWORD = "changeit";

    /** Makes them. */
    public static Certificates make(Path directory) throws IOException, InterruptedException, GeneralSecurityException {
        Path store = directory.resolve("server.p12");
        Path certificate = directory.resolve("server.pem");
        Path trust = directory.resolve("trust.p12");
        keytool(
                "-genkeypair -alias server -keyalg RSA -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 -validity 30 -storetype"
                        + " PKCS12 -storepass " + PASSWORD + " -keystore " + store);
        keytool("-exportcert -rfc -alias server -storepass " + PASSWORD + " -keystore " + store + " -file "
                + certificate);
        keytool("-importcert -noprompt -alias server -storetype PKCS12 -storepass " + PASSWORD + " -keystore " + trust
                + " -file " + certificate);
        return new Certificates(trust, PASSWORD, certificate, key(store, directory.resolve("server.key")));
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

    private static Path key(Path store, Path file) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        byte[] key = keys.getKey("server", PASSWORD.toCharArray()).getEncoded();
        return Files.writeString(
                file,
                "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(key)
                        + "\n-----END PRIVATE KEY-----\n");
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
