// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An authority of a test: makes certificates (X.509 version 3, P-256) and writes them and their keys as PEM files.
 * Nothing of it outlives the test.
 */
public final class Certificates {
    private static final byte[] ECDSA_SHA256 = oid(0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02);
    private static final byte[] COMMON_NAME = oid(0x55, 0x04, 0x03);
    private static final byte[] BASIC_CONSTRAINTS = oid(0x55, 0x1D, 0x13);
    private static final byte[] ALTERNATIVE_NAMES = oid(0x55, 0x1D, 0x11);
    private static final DateTimeFormatter UTC_TIME =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    /** A certificate's file and that of its key. */
    public record Pair(Path certificate, Path key) {}

    private final Path directory;
    private final String name;
    private final KeyPair keys = keys();
    private final AtomicInteger serial = new AtomicInteger(1);

    /** @param name of the authority; also that of its file */
    public Certificates(Path directory, String name) {
        this.directory = directory;
        this.name = name;
        byte[] root = certificate(name, keys, List.of(), true, Duration.ofDays(1));
        write(authority(), "CERTIFICATE", root);
    }

    /** The file with the authority's own certificate. */
    public Path authority() {
        return directory.resolve(name + ".pem");
    }

    /** A certificate for these hosts, names or addresses. */
    public Pair issue(String subject, String... hosts) {
        return issue(subject, Duration.ofDays(1), hosts);
    }

    /** A certificate that ended a day ago. */
    public Pair expired(String subject, String... hosts) {
        return issue(subject, Duration.ofDays(-1), hosts);
    }

    private Pair issue(String subject, Duration left, String... hosts) {
        KeyPair own = keys();
        Pair pair = new Pair(directory.resolve(subject + ".pem"), directory.resolve(subject + ".key"));
        write(pair.certificate(), "CERTIFICATE", certificate(subject, own, List.of(hosts), false, left));
        write(pair.key(), "PRIVATE KEY", own.getPrivate().getEncoded());
        return pair;
    }

    private static KeyPair keys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private byte[] certificate(String subject, KeyPair own, List<String> hosts, boolean authority, Duration left) {
        Instant now = Instant.now();
        byte[] algorithm = der(0x30, ECDSA_SHA256);
        byte[] extensions = authority
                ? extension(BASIC_CONSTRAINTS, der(0x30, der(0x01, new byte[] {-1})))
                : extension(ALTERNATIVE_NAMES, der(0x30, alternatives(hosts)));
        byte[] body = der(
                0x30,
                der(0xA0, der(0x02, new byte[] {2})),
                der(0x02, new byte[] {(byte) serial.getAndIncrement()}),
                algorithm,
                named(name),
                der(0x30, time(now.minus(Duration.ofDays(2))), time(now.plus(left))),
                named(subject),
                own.getPublic().getEncoded(),
                der(0xA3, der(0x30, extensions)));
        try {
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(keys.getPrivate());
            signature.update(body);
            return der(0x30, body, algorithm, der(0x03, new byte[] {0}, signature.sign()));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] alternatives(List<String> hosts) {
        byte[][] parts = new byte[hosts.size()][];
        for (int i = 0; i < parts.length; i++) {
            String host = hosts.get(i);
            try {
                parts[i] = Character.isDigit(host.charAt(0))
                        ? der(0x87, InetAddress.getByName(host).getAddress())
                        : der(0x82, host.getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return joined(parts);
    }

    private static byte[] extension(byte[] id, byte[] value) {
        return der(0x30, id, der(0x04, value));
    }

    private static byte[] named(String text) {
        return der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0C, text.getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] time(Instant at) {
        return der(0x17, UTC_TIME.format(at).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] oid(int... parts) {
        byte[] bytes = new byte[parts.length];
        for (int i = 0; i < parts.length; i++) {
            bytes[i] = (byte) parts[i];
        }
        return der(0x06, bytes);
    }

    private static byte[] der(int tag, byte[]... parts) {
        byte[] content = joined(parts);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else if (content.length < 0x100) {
            out.write(0x81);
            out.write(content.length);
        } else {
            out.write(0x82);
            out.write(content.length >> 8);
            out.write(content.length);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static void write(Path file, String kind, byte[] der) {
        String text = "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END "
                + kind + "-----\n";
        try {
            Files.writeString(file, text);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
