// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/**
 * A certificate of the loopback address for a day, which its own key signs.
 *
 * @param certificate PEM
 * @param key PEM, PKCS#8
 */
record Certificate(Path certificate, Path key) {
    private static final String PASSWORD = "measured";
    private static final String ALIAS = "member";
    private static final long SECONDS = 30;

    /** Makes one in that directory. */
    static Certificate make(Path directory) throws IOException {
        Path store = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-validity",
                        "1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1,dns:localhost")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("keytool.log").toFile())
                .start();
        try {
            if (!keytool.waitFor(SECONDS, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
                keytool.destroyForcibly();
                throw new IOException("keytool makes no certificate: "
                        + Files.readString(directory.resolve("keytool.log"), StandardCharsets.UTF_8));
            }
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD.toCharArray());
            }
            return new Certificate(
                    pem(
                            directory.resolve("certificate.pem"),
                            "CERTIFICATE",
                            keys.getCertificate(ALIAS).getEncoded()),
                    pem(
                            directory.resolve("key.pem"),
                            "PRIVATE KEY",
                            keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()));
        } catch (GeneralSecurityException e) {
            throw new IOException("The certificate that was just made cannot be read", e);
        } catch (InterruptedException e) {
            keytool.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a certificate is made", e);
        }
    }

    private static Path pem(Path file, String what, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }
}
