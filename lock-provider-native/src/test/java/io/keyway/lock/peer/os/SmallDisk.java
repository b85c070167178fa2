// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file system in memory with room for two megabytes. Tests that need it are skipped where this user may not mount
 * one.
 */
public final class SmallDisk implements AutoCloseable {
    private final Path path;

    private SmallDisk(Path path) {
        this.path = path;
    }

    public static SmallDisk mount(Path path) throws IOException, InterruptedException {
        Files.createDirectory(path);
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=2m", "keyway-test", path.toString()),
                "this user may not mount a file system");
        return new SmallDisk(path);
    }

    public Path path() {
        return path;
    }

    /** Writes until nothing more fits. */
    public void fill() throws IOException {
        byte[] block = new byte[4096];
        try (OutputStream out = Files.newOutputStream(path.resolve("filler"))) {
            for (int i = 0; i < 1024; i++) {
                out.write(block);
            }
        } catch (IOException full) {
            return;
        }
        throw new AssertionError("the disk did not fill");
    }

    @Override
    public void close() throws IOException, InterruptedException {
        if (!run("umount", "-l", path.toString())) {
            throw new IOException("Cannot unmount " + path);
        }
    }

    private static boolean run(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
