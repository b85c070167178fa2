// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberSlot;
import io.keyway.lock.peer.os.OsLockStatus;
import io.keyway.lock.peer.os.SmallDisk;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What people, restored backups and other code do to the files of a directory in use, with live processes around it:
 * never two believers, never a lower token, everybody goes on, and the log names the cause.
 */
class LocalTroubleTest {
    /** A file that was put back is found out by its change time, unless it was written a second ago. */
    private static final Duration OLD = Duration.ofMillis(1_500);

    @TempDir
    Path directory;

    private BeliefCrew crew;
    private WorkerPool history;
    private Path member;

    @BeforeEach
    void name() {
        crew = new BeliefCrew(directory, "");
        history = crew.history();
        member = crew.locks().resolve(LocalDirectory.MEMBER);
    }

    @AfterEach
    void killAll() throws InterruptedException {
        crew.close();
    }

    private void crewOf(int workers) throws InterruptedException {
        for (int i = 0; i < workers; i++) {
            history.start();
        }
        history.awaitProgress("at the start");
    }

    /** In place: the inode stays. */
    private void overwrite(byte[] bytes) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(member.toFile(), "rw")) {
            file.write(bytes);
        }
    }

    private byte[] cleanFile() throws Exception {
        String url = "lock:native:local://" + crew.locks() + "?ttl=1s&maxTtl=" + BeliefCrew.TTL.toMillis() + "ms";
        try (LockClient client = Locks.open(url)) {
            client.lock("before").acquire().close();
        }
        return Files.readAllBytes(member);
    }

    @Test
    @Tag("soak")
    void theMemberFileIsDeletedOverwrittenAndPutBack() throws Exception {
        byte[] clean = cleanFile();
        crewOf(3);
        byte[] older = Files.readAllBytes(member);
        LockSupport.parkNanos(OLD.toNanos());

        overwrite(older);
        history.awaitLog("a promise could not be written: java.io.IOException: the member file " + member
                + " was written by something else while in use");
        history.awaitLog("the member file was changed by something else since it was written, or restored");
        history.awaitProgress("with an older member file");

        ChildJvm host = crew.awaitHost();
        overwrite(clean);
        crew.replaceByForce(host);
        history.awaitLog("the member file was changed by something else since it was written, or restored");
        history.awaitProgress("with the member file of an earlier clean end");

        byte[] garbage = new byte[2 * MemberSlot.SIZE];
        new SplittableRandom(7).nextBytes(garbage);
        overwrite(garbage);
        history.awaitLog("the member file is damaged: it cannot be read");
        history.awaitProgress("after garbage in the member file");

        Files.delete(member);
        history.awaitLog("the member file " + member + " was removed or replaced while in use");
        history.awaitLog("the member file is missing");
        history.awaitProgress("without the member file");
        history.endAndCheck("trouble", 9);
    }

    @Test
    @Tag("soak")
    void otherCodeClosesTheLockFiles() throws Exception {
        crewOf(3);
        ChildJvm host = crew.awaitHost();
        ChildJvm other = history.workers().get(history.workers().indexOf(host) == 0 ? 1 : 0);
        other.ask("open " + crew.locks().resolve(LocalDirectory.CLIENTS), "closed");
        // While that process counts as dead to whoever tries its byte, the host changes.
        crew.replaceByForce(host);
        history.awaitLog(crew.locks() + "/clients.lock: " + OsLockStatus.VANISHED.sentence());
        history.awaitProgress("after clients.lock was closed by other code");

        ChildJvm next = crew.awaitHost();
        next.ask("open " + crew.locks().resolve(HostElection.LOCK), "closed");
        history.awaitLog("this process hosts no longer: ");
        history.awaitProgress("after host.lock was closed by other code");
        history.endAndCheck("trouble", 9);
    }

    @Test
    @Tag("soak")
    void twoClassLoadersOfOneProcessAreTwoClients() throws Exception {
        history.startTwins();
        history.start();
        history.awaitProgress("at the start", 3);
        for (int life = 0; life < 2; life++) {
            ChildJvm host = crew.awaitHost();
            if (host == history.workers().get(0)) {
                history.stop(host);
                LockSupport.parkNanos(BeliefCrew.TTL.multipliedBy(2).toNanos());
                history.cont(host);
            } else {
                crew.replaceByForce(host);
            }
            history.awaitProgress("after life " + life, 3);
        }
        history.endAndCheck("trouble", 9);
    }

    @Test
    @Tag("soak")
    void aDirectoryThatIsFullIsRefusedByNameAndOneThatFillsUpServesOn() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"))) {
            Path locks = disk.path().resolve("locks");
            String url = "lock:native:local://" + locks;
            disk.fill();
            assertThatThrownBy(() -> {
                        try (LockClient client = Locks.open(url)) {
                            client.lock("a").tryAcquire(Duration.ofSeconds(1));
                        }
                    })
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(locks.toString())
                    .hasMessageContaining("No space left on device");
            Files.delete(disk.path().resolve("filler"));
            try (LockClient client = Locks.open(url)) {
                Lease lease = client.lock("a").acquire();
                disk.fill();
                LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
                assertThat(lease.isHeld()).isTrue();
                assertThat(client.lock("b").tryAcquire(Duration.ofSeconds(20))).isPresent();
            }
        }
    }

    @Test
    @Tag("soak")
    void theWallClockIsSteppedByADayBetweenTheLivesOfTheHost() throws Exception {
        try (BeliefCrew guests = new BeliefCrew(directory, "&host=none")) {
            Duration[] steps = {Duration.ZERO, Duration.ofDays(1), Duration.ofDays(-1)};
            ChildJvm host = SteppedHost.start(guests.locks(), steps[0]);
            host.await("hosting");
            guests.history().start();
            guests.history().start();
            for (int life = 1; life <= steps.length; life++) {
                guests.history().awaitProgress("in life " + life + " of the host");
                if (life % 2 == 1) {
                    host.kill9();
                } else {
                    host.tell("end");
                    assertThat(host.awaitExit()).isZero();
                }
                if (life < steps.length) {
                    host = SteppedHost.start(guests.locks(), steps[life]);
                    host.await("hosting");
                }
            }
            guests.history().endAndCheck("steps", 2 * steps.length);
        }
    }
}
