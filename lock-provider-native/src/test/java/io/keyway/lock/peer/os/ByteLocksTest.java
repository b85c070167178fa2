// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.os.ByteLocks.Life;
import io.keyway.lock.peer.os.ByteLocks.Others;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ByteLocksTest {
    @TempDir
    Path directory;

    Path path;
    ByteLocks locks;

    @BeforeEach
    void open() {
        path = directory.resolve("clients.lock");
        locks = ByteLocks.open(path);
    }

    @Test
    void aByteIsHeldUntilItIsReleased() {
        long position = locks.take();
        assertThat(position).isBetween(1L, LockFile.LIMIT - 1);
        assertThat(locks.stillHeld(position)).isTrue();
        assertThat(locks.probe(position)).isEqualTo(Life.THIS_JVM);
        locks.release(position);
        assertThat(locks.status(position)).isEqualTo(OsLockStatus.RELEASED);
        assertThat(locks.probe(position)).isEqualTo(Life.DEAD);
    }

    @Test
    void bytesAreDrawnAtRandom() {
        Set<Long> drawn = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            drawn.add(LockFile.draw());
        }
        assertThat(drawn).hasSize(1000).allMatch(b -> b >= 1 && b < LockFile.LIMIT);
    }

    @Test
    void theFileIsForItsOwnerAlone() throws Exception {
        assertThat(Files.getPosixFilePermissions(path)).hasSize(2);
    }

    @Test
    void aSecondOpenSharesTheChannel() {
        long position = locks.take();
        ByteLocks second = ByteLocks.open(path);
        assertThat(second.own()).containsExactly(position);
        assertThat(second.stillHeld(position)).isTrue();
        assertThat(second.take()).isNotEqualTo(position);
        assertThat(locks.stillHeld(position)).isTrue();
    }

    @Test
    void othersAreNoneAroundTheOwnBytes() {
        long a = locks.take();
        long b = locks.take();
        assertThat(locks.others(Set.of())).isEqualTo(Others.NONE);
        assertThat(locks.stillHeld(a)).isTrue();
        assertThat(locks.stillHeld(b)).isTrue();
    }

    @Test
    void neighbouringBytesAreToldApartAlthoughTheKernelMergesThem() {
        LockFile file = LockFile.open(path);
        assertThat(file.take(5)).isEqualTo(LockFile.Outcome.TAKEN);
        assertThat(file.take(6)).isEqualTo(LockFile.Outcome.TAKEN);
        file.release(5);
        assertThat(file.status(5)).isEqualTo(OsLockStatus.RELEASED);
        assertThat(file.status(6)).isEqualTo(OsLockStatus.HELD);
    }

    @Test
    void closingAnotherChannelOfTheFileIsNoticed() throws Exception {
        assumeTrue(locks.checkable(), "needs /proc");
        long position = locks.take();
        FileChannel.open(path, StandardOpenOption.READ).close();
        assertThat(locks.status(position)).isEqualTo(OsLockStatus.VANISHED);
        long next = locks.take();
        assertThat(locks.stillHeld(next)).as("a new byte is in force").isTrue();
    }

    @Test
    void readingTheFileIsNoticed() throws Exception {
        assumeTrue(locks.checkable(), "needs /proc");
        long position = locks.take();
        Files.readAllBytes(path);
        assertThat(locks.stillHeld(position)).isFalse();
    }

    @Test
    void anInterruptedThreadDoesNotCloseTheChannel() {
        long position = locks.take();
        Thread.currentThread().interrupt();
        try {
            long second = locks.take();
            assertThat(locks.probe(position)).isEqualTo(Life.THIS_JVM);
            assertThat(locks.others(Set.of())).isEqualTo(Others.NONE);
            locks.release(second);
            assertThat(locks.stillHeld(position)).isTrue();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aReplacedFileIsNoticed() throws Exception {
        long position = locks.take();
        Files.move(path, directory.resolve("aside"));
        assertThat(locks.sameFile()).isFalse();
        assertThat(locks.status(position)).isEqualTo(OsLockStatus.REPLACED);
        Files.createFile(path);
        assertThat(locks.status(position)).isEqualTo(OsLockStatus.REPLACED);
        assertThat(locks.probe(position + 1)).isEqualTo(Life.UNKNOWN);
        assertThat(locks.others(Set.of())).isEqualTo(Others.UNKNOWN);
        assertThatThrownBy(locks::take)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("removed or replaced");
    }

    @Test
    void theRemovedInodeIsNotUsedAgainWhileItIsLocked() throws Exception {
        Files.delete(path);
        ByteLocks second = ByteLocks.open(path);
        assertThat(second.fileKey()).isNotEqualTo(locks.fileKey());
        assertThat(second.sameFile()).isTrue();
        assertThat(locks.sameFile()).isFalse();
    }

    @Test
    void anotherRegistryInThisJvmIsNoProofOfDeathAndClosesNothing() {
        long position = locks.take();
        Object registry = System.getProperties().remove("io.keyway.lock.files.1");
        try {
            ByteLocks stranger = ByteLocks.open(path);
            assertThat(stranger.own()).isEmpty();
            assertThat(stranger.probe(position)).isEqualTo(Life.THIS_JVM);
            assertThat(stranger.others(Set.of())).isEqualTo(Others.UNKNOWN);
        } finally {
            System.getProperties().put("io.keyway.lock.files.1", registry);
        }
        assertThat(locks.stillHeld(position)).isTrue();
    }

    @Test
    void aSymbolicLinkIsNotFollowed() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), path);
        assertThatThrownBy(() -> ByteLocks.open(link)).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aPositionOutOfRangeProvesNothing() {
        assertThat(locks.probe(0)).isEqualTo(Life.UNKNOWN);
        assertThat(locks.probe(-1)).isEqualTo(Life.UNKNOWN);
        assertThat(locks.probe(LockFile.LIMIT)).isEqualTo(Life.UNKNOWN);
        assertThat(locks.others(Set.of(-1L, 0L, 1L, LockFile.LIMIT, Long.MAX_VALUE)))
                .isEqualTo(Others.NONE);
    }

    @Test
    void withoutProcAVanishedLockIsNotClaimedToBeSeen() {
        assertThat(new ProcLocks(directory).find(1, "")).isEmpty();
        assertThat(new ProcLocks(directory.resolve("none")).find(1, "")).isEmpty();
        assertThat(new ProcLocks(directory.resolve("none")).at("3", 1, "")).isEmpty();
    }

    @Test
    void aLockOfAnotherFileOrProcessIsNotOurs() throws Exception {
        Files.writeString(
                directory.resolve("7"),
                "pos:\t0\nlock:\t1: POSIX  ADVISORY  WRITE 10 fe:00:21 12 14\nlock:\t2: FLOCK  ADVISORY  WRITE 10 "
                        + "fe:00:21 0 EOF\n");
        ProcLocks kernel = new ProcLocks(directory);
        assertThat(kernel.at("7", 13, "fe:00:21")).isPresent();
        assertThat(kernel.find(13, "fe:00:21")).contains(new ProcLocks.Place("7", "fe:00:21"));
        assertThat(kernel.at("7", 15, "fe:00:21")).as("outside of the range").isEmpty();
        assertThat(kernel.at("7", 13, "fe:00:22")).as("another inode").isEmpty();
        assertThat(kernel.at("8", 13, "fe:00:21")).as("no such descriptor").isEmpty();
    }
}
