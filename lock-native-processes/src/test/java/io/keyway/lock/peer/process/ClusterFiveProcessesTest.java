// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.ClientProcess;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The four tests of the lease algorithm's source, with three members and two clients as five processes, and links that
 * really break.
 */
@Tag("soak")
class ClusterFiveProcessesTest {
    private static final Duration TTL = Patience.of(Duration.ofSeconds(2));
    private static final Duration PATIENT = Patience.of(Duration.ofSeconds(30));
    private static final Duration HURRIED = TTL.dividedBy(2);

    @TempDir
    static Path directory;

    private static Cluster cluster;
    private static ClientProcess one;
    private static ClientProcess other;

    @BeforeAll
    static void start() throws Exception {
        cluster = new Cluster(directory, 3, 2, TTL);
        cluster.start();
        one = ClientProcess.open(cluster.client(0).options(), cluster.url(TTL));
        other = ClientProcess.open(cluster.client(1).options(), cluster.url(TTL));
        for (int i = 0; i < 12; i++) { // each client knows each member, whoever decides on a name
            one.acquire("known-" + i, PATIENT).orElseThrow();
            one.release("known-" + i);
            other.acquire("known-" + i, PATIENT).orElseThrow();
            other.release("known-" + i);
        }
    }

    @AfterAll
    static void end() throws Exception {
        one.close();
        other.close();
        cluster.close();
    }

    @AfterEach
    void heal() {
        cluster.heal();
    }

    /** A release that is not answered in time is no error: the next grant shows that the lock is free. */
    private static void release(ClientProcess client, String name) throws Exception {
        assertThat(client.release(name)).isIn(ReleaseOutcome.RELEASED, ReleaseOutcome.UNKNOWN);
    }

    @Test
    @Tag("soak")
    void oneOfTwoHoldsEachLockAndThenTheOther() throws Exception {
        for (int i = 0; i < 5; i++) {
            String name = "exclusion-" + i; // spread over the members
            long first = one.acquire(name, PATIENT).orElseThrow();
            assertThat(other.acquire(name, HURRIED)).isEmpty();
            assertThat(one.isHeld(name)).isTrue();
            release(one, name);
            assertThat(other.acquire(name, PATIENT).orElseThrow()).isGreaterThan(first);
            assertThat(one.acquire(name, HURRIED)).isEmpty();
            release(other, name);
        }
    }

    @Test
    void aHolderThatIsCutOffLearnsThatItHoldsNoMore() throws Exception {
        one.acquire("client-side", PATIENT).orElseThrow();
        cluster.client(0).blackHole();
        assertThat(one.loss("client-side", PATIENT)).contains(LeaseLoss.Cause.EXPIRED);
        assertThat(one.isHeld("client-side")).isFalse();
        assertThat(one.release("client-side")).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    }

    @Test
    void afterALeaseTheServerGrantsToTheNext() throws Exception {
        long first = one.acquire("server-side", PATIENT).orElseThrow();
        cluster.client(0).blackHole();
        assertThat(other.acquire("server-side", TTL.dividedBy(4))).isEmpty();
        assertThat(other.acquire("server-side", PATIENT).orElseThrow()).isGreaterThan(first);
        assertThat(one.isHeld("server-side")).isFalse();
        assertThat(other.isHeld("server-side")).isTrue();
        cluster.heal();
        assertThat(one.acquire("server-side", HURRIED)).isEmpty();
        release(other, "server-side");
        assertThat(one.acquire("server-side", PATIENT)).isPresent();
        release(one, "server-side");
    }

    @Test
    void theClientKeepsALockThatNobodyElseAsksFor() throws Exception {
        long first = one.acquire("cached", PATIENT).orElseThrow();
        release(one, "cached");
        OptionalLong second = OptionalLong.empty();
        for (int attempt = 0; attempt < 5 && second.isEmpty(); attempt++) {
            LockSupport.parkNanos(TTL.multipliedBy(3).dividedBy(2).toNanos());
            // Without any link it can come from nowhere else; but a process that stood still just then believes no
            // more.
            cluster.client(0).blackHole();
            second = one.acquireIfReachable("cached", HURRIED);
            if (second.isPresent()) {
                release(one, "cached");
            }
            cluster.heal();
            if (second.isEmpty()) {
                first = one.acquire("cached", PATIENT).orElseThrow();
                release(one, "cached");
            }
        }
        assertThat(second).isPresent();
        assertThat(second.orElseThrow()).isGreaterThan(first);
        assertThat(other.acquire("cached", PATIENT).orElseThrow()).isGreaterThan(second.orElseThrow());
        release(other, "cached");
    }
}
