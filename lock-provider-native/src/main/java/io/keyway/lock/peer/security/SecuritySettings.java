// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import io.keyway.lock.Option;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.spi.OpenRequest;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/**
 * What somebody wrote about security, not yet looked at: the options of a URL, or those of the command line.
 *
 * @param secret the shared secret itself
 * @param secretFile a file with the shared secret
 * @param tls whether to speak TLS; empty if only other options say so
 * @param certificates PEM file: this end's certificate, then those that lead to a root
 * @param key PEM file: the key of the first certificate, PKCS#8
 * @param authorities PEM file: the certificates that are trusted; empty for those that the JDK trusts
 * @param clientCertificates whether a member demands a certificate of each client that connects
 * @param insecure whether to do without secret and TLS on purpose
 * @param context certificates and trust from code, instead of files
 * @param spelling how an option's name is written where these were read, for messages
 */
public record SecuritySettings(
        Optional<String> secret,
        Optional<Path> secretFile,
        Optional<Boolean> tls,
        Optional<Path> certificates,
        Optional<Path> key,
        Optional<Path> authorities,
        boolean clientCertificates,
        boolean insecure,
        Optional<SSLContext> context,
        UnaryOperator<String> spelling) {

    /**
     * What a URL and the client's options say.
     *
     * @throws IllegalArgumentException if a file's name is none
     */
    public static SecuritySettings of(OpenRequest request) {
        return new SecuritySettings(
                request.find(NativeOptions.SECRET),
                path(request, NativeOptions.SECRET_FILE),
                request.find(NativeOptions.TLS),
                path(request, NativeOptions.TLS_CERT),
                path(request, NativeOptions.TLS_KEY),
                path(request, NativeOptions.TLS_CA),
                request.find(NativeOptions.TLS_CLIENT_AUTH).orElse(false),
                request.find(NativeOptions.INSECURE).orElse(false),
                request.find(NativeOptions.SSL_CONTEXT),
                UnaryOperator.identity());
    }

    private static Optional<Path> path(OpenRequest request, Option<String> option) {
        return request.find(option).map(text -> path(option, text));
    }

    private static Path path(Option<String> option, String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(option.name() + ": not the name of a file", e);
        }
    }

    String spelled(Option<?> option) {
        return spelling.apply(option.name());
    }
}
