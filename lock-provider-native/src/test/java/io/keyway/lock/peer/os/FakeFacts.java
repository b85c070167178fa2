// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A machine whose clocks stand until they are moved by hand. Files are real; a change that is seen anew gets the time
 * of this machine's wall clock.
 */
public class FakeFacts implements MachineFacts {
    /** When each file that was seen says that it was written. */
    private static final FileTime MARK = FileTime.fromMillis(1_000);

    private final SystemFacts real = new SystemFacts();
    public Optional<String> bootId = Optional.of("boot-1");
    public Optional<String> timeNamespace = Optional.of("time:[1]");
    public OptionalLong boot = OptionalLong.of(Duration.ofHours(5).toNanos());
    public long nano = Duration.ofHours(4).toNanos();
    public long wall = 1_800_000_000_000L;
    public String fileSystem = "ext4";
    /** By path, what was seen last, and when that was new. */
    private final Map<Path, FileFacts> lastSeen = new HashMap<>();

    private final Map<Path, Long> changed = new HashMap<>();
    private final Map<Path, Long> named = new HashMap<>();

    /** Time passes on the clocks that run over the end of a process. */
    public void pass(Duration time) {
        nano += time.toNanos();
        boot = OptionalLong.of(boot.getAsLong() + time.toNanos());
    }

    /** The machine sleeps: the monotonic clock stands. */
    public void sleep(Duration time) {
        boot = OptionalLong.of(boot.getAsLong() + time.toNanos());
    }

    @Override
    public Optional<String> bootId() {
        return bootId;
    }

    @Override
    public Optional<String> timeNamespace() {
        return timeNamespace;
    }

    @Override
    public OptionalLong bootNanos() {
        return boot;
    }

    @Override
    public long nanoTime() {
        return nano;
    }

    @Override
    public long wallMillis() {
        return wall;
    }

    @Override
    public Optional<FileFacts> file(Path path) throws IOException {
        Optional<FileFacts> now = real.file(path);
        if (now.isPresent() && (!now.get().equals(lastSeen.get(path)) || !isMarked(path))) {
            changed.put(path, wall);
            // A write within the same step of the system's clock is seen by this alone.
            Files.setLastModifiedTime(path, MARK);
            lastSeen.put(path, real.file(path).orElseThrow());
        }
        return now.map(f -> new FileFacts(f.inode(), changed.getOrDefault(path, wall)));
    }

    private static boolean isMarked(Path path) throws IOException {
        return Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).equals(MARK);
    }

    @Override
    public String fileSystemType(Path path) throws IOException {
        if (fileSystem.isEmpty()) {
            throw new IOException("Mount point not found");
        }
        return fileSystem;
    }

    @Override
    public void forceName(Path path) throws IOException {
        real.forceName(path);
        real.file(path).ifPresent(file -> named.put(path, file.inode()));
    }

    /** Whether what has that name now would be found there after the power failed. */
    public boolean staysNamed(Path path) throws IOException {
        return real.file(path).map(FileFacts::inode).equals(Optional.ofNullable(named.get(path)));
    }
}
