// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.tck.process.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The member file by the clocks of this machine, over the ends of real processes. */
class MemberProcessTest {
    @TempDir
    Path directory;

    private final SystemFacts facts = new SystemFacts();

    private MemberFile open() throws Exception {
        return MemberFile.open(directory.resolve("member"), facts, MemberProcess.SETTINGS);
    }

    private ChildJvm member() throws Exception {
        return ChildJvm.start(MemberProcess.class, directory.resolve("member").toString());
    }

    @Test
    void afterAKillTheWaitEndsAtTheHorizonOfTheBootClock() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/uptime")), "needs Linux");
        long epoch;
        try (ChildJvm member = member()) {
            epoch = Long.parseLong(member.await("forced"));
            member.kill9();
        }
        try (MemberFile file = open()) {
            Quarantine quarantine = file.quarantine();
            assertThat(quarantine.reason()).contains("may be held for another");
            assertThat(quarantine.duration()).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(31));
            assertThat(file.nextEpoch(0)).isGreaterThan(epoch);
        }
    }

    @Test
    void afterACleanEndThereIsNoWait() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/uptime")), "needs Linux");
        try (ChildJvm member = member()) {
            member.await("forced");
            member.tell("end");
            assertThat(member.await("clean")).isEqualTo("true");
            assertThat(member.awaitExit()).isZero();
        }
        try (MemberFile file = open()) {
            StartState.Restarted start = (StartState.Restarted) file.start();
            assumeTrue(start.horizonUsable(), "the machine stood still for a second during the last write");
            assertThat(start.stored().grants()).containsExactly(new byte[] {7});
            assertThat(file.quarantine().duration()).isZero();
        }
    }

    @Test
    void aRestoredCopyWaitsInFull() throws Exception {
        try (ChildJvm member = member()) {
            member.await("forced");
            member.kill9();
        }
        Path path = directory.resolve("member");
        Path copy = Files.copy(path, directory.resolve("copy"));
        Files.delete(path);
        Files.move(copy, path);
        try (MemberFile file = open()) {
            assertThat(file.quarantine().duration()).isEqualTo(Quarantine.full(MemberProcess.SETTINGS.maxTtl()));
        }
    }
}
