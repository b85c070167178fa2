// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.LockFile;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * A byte of clients.lock for a process that works under the leases of another one, such as the supervisor of a command:
 * the client names the byte when it says hello, and counts as dead only when both processes are.
 */
public final class LocalGuard {
    private LocalGuard() {}

    /** Draws the byte that the client will name and the other process will take. */
    public static long draw() {
        return LockFile.draw();
    }

    /** Returns the file that the byte is of; empty if this URL is not about the processes of one machine. */
    public static Optional<Path> file(LockUrl url, Map<String, String> environment) {
        return directory(url, environment).map(directory -> directory.resolve(LocalDirectory.CLIENTS));
    }

    static Optional<Path> directory(LockUrl url, Map<String, String> environment) {
        if (!url.provider().equals("native") || !url.protocol().equals(Optional.of("local"))) {
            return Optional.empty();
        }
        return Optional.of(LocalDirectory.choose(url.path(), environment, System.getProperty("user.home", "")));
    }

    /**
     * Takes the byte until this process ends; the client has made the file when it was opened.
     *
     * @throws io.keyway.lock.LockUnavailableException if another process has it, or the file cannot be opened
     */
    public static void take(Path file, long position) {
        ByteLocks.open(file).take(position);
    }
}
