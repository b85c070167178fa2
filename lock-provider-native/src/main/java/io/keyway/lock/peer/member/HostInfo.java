// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.SmallFiles;
import io.keyway.lock.peer.session.Authenticator;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What host.info says about the host: where to reach it and with which secret. Only host.lock says whether it lives.
 *
 * @param pid of the host's process, as the host sees it (another container may see another)
 * @param socket path of its Unix domain socket, or empty
 * @param port on the loopback address if there is no socket, or empty
 * @param secret of this host's life, in hexadecimal; never logged
 */
public record HostInfo(long pid, Optional<Path> socket, OptionalInt port, String secret) {
    private static final String FORMAT = "1";
    private static final int SECRET_BYTES = 32;

    public HostInfo {
        if (port.isPresent() && secret.isEmpty()) {
            throw new IllegalArgumentException("a port without a secret");
        }
        if (socket.isPresent() == port.isPresent()) {
            throw new IllegalArgumentException("a host has either a socket or a port");
        }
    }

    /** What this process publishes when it listens on a socket. */
    public static HostInfo onSocket(Path socket) {
        return new HostInfo(ProcessHandle.current().pid(), Optional.of(socket), OptionalInt.empty(), newSecret());
    }

    /** What this process publishes when it listens on a port of the loopback address. */
    public static HostInfo onPort(int port, String secret) {
        return new HostInfo(ProcessHandle.current().pid(), Optional.empty(), OptionalInt.of(port), secret);
    }

    /** How both ends prove themselves. */
    public Authenticator authenticator() {
        return authenticator(socket, secret);
    }

    /**
     * Where the system says whose process is at the other end of a socket, that is enough; a port is open to all users
     * of the machine, so both ends prove that they know the secret, which never crosses the wire.
     */
    public static Authenticator authenticator(Optional<Path> socket, String secret) {
        return socket.isPresent()
                ? Authenticator.none()
                : Authenticator.sharedSecret(secret.getBytes(StandardCharsets.US_ASCII));
    }

    /** Where to connect. */
    public SocketAddress address() {
        return socket.isPresent() ? UnixDomainSocketAddress.of(socket.get()) : onLoopback(port.orElseThrow());
    }

    /** A port of this machine alone. */
    public static InetSocketAddress onLoopback(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    /** Drawn anew for each life of a host. */
    public static String newSecret() {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** Reads host.info; empty if there is none, or nothing in it that this version understands. */
    static Optional<HostInfo> read(Path path) {
        try {
            Map<String, String> fields = new HashMap<>();
            for (String line : SmallFiles.of(path)) {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    fields.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
            if (!FORMAT.equals(fields.get("format")) || !fields.containsKey("end")) {
                return Optional.empty();
            }
            String port = fields.get("port");
            return Optional.of(new HostInfo(
                    Long.parseLong(fields.getOrDefault("pid", "")),
                    Optional.ofNullable(fields.get("socket")).map(Path::of),
                    port == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(port)),
                    fields.getOrDefault("secret", "")));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Replaces host.info in one step, so that no reader sees half of it. */
    public void write(Path path) throws IOException {
        StringBuilder text = new StringBuilder("format=" + FORMAT + "\npid=" + pid + "\n");
        socket.ifPresent(s -> text.append("socket=").append(s).append('\n'));
        port.ifPresent(p -> text.append("port=").append(p).append('\n'));
        text.append("secret=").append(secret).append("\nend=\n");
        Path fresh = path.resolveSibling(path.getFileName() + ".new"); // one writer: whoever has host.lock
        Files.deleteIfExists(fresh);
        Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try (FileOutputStream out = new FileOutputStream(fresh.toFile())) {
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        }
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public String toString() {
        String where = socket.map(Path::toString).orElseGet(() -> "127.0.0.1:" + port.orElse(0));
        return "process " + pid + " at " + where;
    }
}
