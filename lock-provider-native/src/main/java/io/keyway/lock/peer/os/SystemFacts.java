// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The facts of the machine that this JVM runs on. Complete on Linux; elsewhere what is missing is empty. */
public final class SystemFacts implements MachineFacts {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path TIME_NAMESPACE = Path.of("/proc/self/ns/time");

    /** What EINVAL is called: of a file system that cannot force a directory. */
    private static final String CANNOT_FORCE = "Invalid argument";

    @Override
    public Optional<String> bootId() {
        return firstLine(BOOT_ID);
    }

    @Override
    public Optional<String> timeNamespace() {
        try {
            return Optional.of(Files.readSymbolicLink(TIME_NAMESPACE).toString());
        } catch (NoSuchFileException e) {
            // Linux before 5.6 has no time namespaces; without /proc nothing is known.
            return Files.exists(TIME_NAMESPACE.resolveSibling("pid"), LinkOption.NOFOLLOW_LINKS)
                    ? Optional.of("none")
                    : Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    @Override
    public OptionalLong bootNanos() {
        return firstLine(UPTIME).map(SystemFacts::uptimeNanos).orElse(OptionalLong.empty());
    }

    public static OptionalLong uptimeNanos(String line) {
        try {
            String seconds = line.split(" ", 2)[0];
            return OptionalLong.of(
                    new BigDecimal(seconds).movePointRight(9).toBigInteger().longValueExact());
        } catch (ArithmeticException | NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Optional<FileFacts> file(Path path) throws IOException {
        try {
            Map<String, Object> facts = Files.readAttributes(path, "unix:ino,ctime", LinkOption.NOFOLLOW_LINKS);
            if (facts.get("ino") instanceof Number inode && facts.get("ctime") instanceof FileTime changed) {
                return Optional.of(new FileFacts(inode.longValue(), changed.toMillis()));
            }
            return Optional.empty();
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Override
    public String fileSystemType(Path path) throws IOException {
        return Files.getFileStore(path).type();
    }

    @Override
    public void forceName(Path path) throws IOException {
        Path directory = path.toAbsolutePath().getParent();
        if (directory == null) {
            return;
        }
        boolean interrupted = false;
        try {
            while (!forced(directory)) {
                interrupted |= Thread.interrupted(); // which has closed the channel
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean forced(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
            return true;
        } catch (ClosedByInterruptException e) {
            return false;
        } catch (AccessDeniedException e) {
            return true;
        } catch (IOException e) {
            if (CANNOT_FORCE.equals(e.getMessage())) {
                return true;
            }
            throw e;
        }
    }

    private static Optional<String> firstLine(Path path) {
        try {
            return SmallFiles.of(path).stream().findFirst().map(String::trim).filter(line -> !line.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
