// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and keys in PEM (RFC 7468). Text outside of the parts that are looked for does not count. */
final class Pem {
    private static final int MAX_BYTES = 1 << 20;
    private static final Pattern PART =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----", Pattern.DOTALL);
    private static final List<String> KEY_KINDS = List.of("RSA", "EC", "EdDSA", "RSASSA-PSS");

    private Pem() {}

    /**
     * All certificates of a file, in order.
     *
     * @throws IllegalArgumentException if there is none, or one cannot be read
     */
    static List<X509Certificate> certificates(String option, Path file) {
        List<X509Certificate> all = new ArrayList<>();
        Matcher part = parts(GuardedFile.readPublic(option, file, MAX_BYTES));
        while (part.find()) {
            if (part.group(1).equals("CERTIFICATE")) {
                all.add(certificate(option, file, decoded(option, file, part)));
            }
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(
                    option + ": " + file + " has no certificate in PEM (-----BEGIN CERTIFICATE-----)");
        }
        return all;
    }

    private static X509Certificate certificate(String option, Path file, byte[] der) {
        try {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        } catch (CertificateException e) {
            throw new IllegalArgumentException(option + ": a certificate of " + file + " is damaged", e);
        }
    }

    /**
     * The one private key of a file.
     *
     * @throws IllegalArgumentException if there is none, or it is of a kind that the JDK does not read
     */
    static PrivateKey key(String option, Path file) {
        Matcher part = parts(GuardedFile.read(option, file, MAX_BYTES));
        String found = "";
        while (part.find()) {
            if (part.group(1).equals("PRIVATE KEY")) {
                return key(option, file, decoded(option, file, part));
            }
            found = part.group(1).endsWith("PRIVATE KEY") ? part.group(1) : found;
        }
        throw new IllegalArgumentException(option + ": " + file
                + (found.isEmpty() ? " has no private key" : " has its key in another form (" + found + ")")
                + "; PKCS#8 without a password is needed (-----BEGIN PRIVATE KEY-----): openssl pkcs8 -topk8 "
                + "-nocrypt -in OLD -out NEW");
    }

    private static PrivateKey key(String option, Path file, byte[] der) {
        for (String kind : KEY_KINDS) {
            Optional<PrivateKey> key = key(kind, der);
            if (key.isPresent()) {
                return key.get();
            }
        }
        throw new IllegalArgumentException(
                option + ": the key of " + file + " is damaged, or none of " + String.join(", ", KEY_KINDS));
    }

    private static Optional<PrivateKey> key(String kind, byte[] der) {
        try {
            return Optional.of(KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(der)));
        } catch (InvalidKeySpecException e) {
            return Optional.empty();
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("this JDK reads no " + kind + " keys", e);
        }
    }

    private static Matcher parts(byte[] text) {
        return PART.matcher(new String(text, StandardCharsets.ISO_8859_1));
    }

    private static byte[] decoded(String option, Path file, Matcher part) {
        try {
            return Base64.getMimeDecoder().decode(part.group(2));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(option + ": " + file + " is damaged: its base64 is none", e);
        }
    }
}
