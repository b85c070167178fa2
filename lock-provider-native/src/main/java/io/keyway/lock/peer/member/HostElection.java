// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.LockFile;
import io.keyway.lock.peer.os.OsLockStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Decides who hosts: whoever has the operating system's lock on host.lock. The file holds nothing; host.info says where
 * the host is.
 */
public final class HostElection {
    public static final String LOCK = "host.lock";
    public static final String INFO = "host.info";
    private static final long POSITION = 0;

    private final Path directory;

    public HostElection(Path directory) {
        this.directory = directory;
    }

    /** What came of the wish to host. */
    public sealed interface Answer {}

    /** This process may host, from now until {@link #close()} or until {@link #status()} says otherwise. */
    public static final class Hosting implements Answer, AutoCloseable {
        private final Path directory;
        private final LockFile file;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Hosting(Path directory, LockFile file) {
            this.directory = directory;
            this.file = file;
        }

        /**
         * What has become of the lock. Anything but HELD: another process may host, so this one must stop granting and
         * extending at once. To be asked at least with every forced horizon.
         */
        public OsLockStatus status() {
            return closed.get() ? OsLockStatus.RELEASED : file.status(POSITION);
        }

        /** Whether a lock that vanished would be noticed on this system. */
        public boolean checkable() {
            return file.checkable();
        }

        /**
         * Returns where clients are to find the socket, after removing what a dead host left there; empty if the host
         * must listen on a port.
         *
         * @throws io.keyway.lock.LockUnavailableException if the remains cannot be removed
         */
        public Optional<Path> socket() {
            try {
                removeSockets();
            } catch (IOException e) {
                throw LockFile.unavailable("Cannot remove the socket of an earlier host: " + e, e);
            }
            return SocketPath.in(directory);
        }

        private void removeSockets() throws IOException {
            for (String name : SocketPath.NAMES) {
                Files.deleteIfExists(directory.resolve(name));
                Files.deleteIfExists(SocketPath.toBind(directory.resolve(name)));
            }
        }

        /**
         * Tells clients where this host is; the host listens already.
         *
         * @throws io.keyway.lock.LockUnavailableException if it cannot be written, for instance on a full disk
         */
        public void publish(HostInfo info) {
            Path path = directory.resolve(INFO);
            try {
                info.write(path);
            } catch (IOException e) {
                throw LockFile.unavailable("Cannot write " + path + ", so no client would find this host: " + e, e);
            }
        }

        /**
         * Gives up hosting, after the last promise is on disk: what clients would find is removed, then the lock is
         * free.
         */
        @Override
        public void close() {
            if (!closed.compareAndSet(false, true)) {
                return; // the lock may be another client's of this JVM by now
            }
            try {
                if (file.status(POSITION) == OsLockStatus.HELD) {
                    Files.deleteIfExists(directory.resolve(INFO));
                    removeSockets();
                }
            } catch (IOException e) {
                throw LockFile.unavailable("Cannot remove the traces of this host: " + e, e);
            } finally {
                file.release(POSITION);
            }
        }
    }

    /**
     * Somebody else hosts, or prepares the directory for a moment: where nobody answers, try again within
     * connectTimeout before this is an error.
     *
     * @param thisJvm it is this JVM: connect to it
     * @param info where, if it has said so yet; possibly the word of the host before it
     */
    public record Taken(boolean thisJvm, Optional<HostInfo> info) implements Answer {}

    /**
     * Tries to become the host; does not wait.
     *
     * @throws io.keyway.lock.LockUnavailableException if host.lock cannot be opened
     */
    public Answer tryHost() {
        LockFile file = LockFile.open(directory.resolve(LOCK));
        LockFile.Outcome outcome = file.take(POSITION);
        if (outcome != LockFile.Outcome.TAKEN) {
            return new Taken(outcome == LockFile.Outcome.THIS_JVM, info());
        }
        if (!file.sameFile()) {
            file.release(POSITION);
            throw LockFile.unavailable(
                    file.path() + " was removed or replaced while it was being locked; try again", null);
        }
        return new Hosting(directory, file);
    }

    /** What host.info says; empty if there is none. It may be of a host that is dead. */
    public Optional<HostInfo> info() {
        return HostInfo.read(directory.resolve(INFO));
    }
}
