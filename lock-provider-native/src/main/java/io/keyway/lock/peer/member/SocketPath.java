// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where a host's Unix domain socket may lie: an address has little room for a path, and the JDK uses all of it but two
 * bytes.
 */
public final class SocketPath {
    /** The room is 108 bytes on Linux and 104 on other systems. */
    static final int MAX_BYTES = (System.getProperty("os.name", "").startsWith("Linux") ? 108 : 104) - 2;

    /** In order of preference; the short one for directories that leave no room for the other. */
    static final List<String> NAMES = List.of("host.sock", "s");

    private SocketPath() {}

    /**
     * Returns the path of the socket; empty if the directory's name is too long for one, so that the host listens on a
     * port of 127.0.0.1 instead.
     */
    public static Optional<Path> in(Path directory) {
        return NAMES.stream().map(directory::resolve).filter(SocketPath::fits).findFirst();
    }

    /**
     * Where a socket is bound before it is moved to its place, in as many bytes. Netty removes the path that it has
     * bound when the socket is closed, and by then another host's may stand in that place.
     */
    public static Path toBind(Path socket) {
        String name = socket.getFileName().toString();
        return socket.resolveSibling(name.substring(0, name.length() - 1) + "~");
    }

    private static boolean fits(Path path) {
        // The JDK encodes a path by the platform's file name encoding; UTF-8 is at least as long as any single-byte
        // one.
        Charset names = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
        String text = path.toString();
        return Math.max(text.getBytes(names).length, text.getBytes(StandardCharsets.UTF_8).length) <= MAX_BYTES;
    }
}
