// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A cluster that goes on with another algorithm, its files in place: as long as one member has the former one, nobody
 * is granted anything by the other ones.
 */
@Execution(ExecutionMode.CONCURRENT)
class AlgorithmChangeTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration SHORT = Duration.ofSeconds(2);
    /** For longer than the first election of a cluster waits, and than all leases last. */
    private static final Duration LONG = Duration.ofSeconds(20);

    private static final int NAMES = 12;
    /** Higher than what the clock gives for centuries. */
    private static final long AHEAD = 1L << 61;

    @TempDir
    private Path directory;

    private TestMembers partitioned;
    private TestMembers led;

    @BeforeEach
    void choose() throws IOException {
        partitioned = new TestMembers(directory, new LeaseAlgorithm(), "a", "b", "c");
        led = new TestMembers(directory, new FailoverAlgorithm(), partitioned);
    }

    @AfterEach
    void end() {
        partitioned.close();
        led.close();
    }

    private LockClient open(String protocol) {
        return Locks.open("lock:native:" + protocol + "://" + String.join(",", partitioned.ids("abc"))
                + "/keyway?cache=off&requestTimeout=" + Patience.leaseSeconds(1) + "s&maxTtl=2s&ttl=1s");
    }

    private void start(TestMembers members, String letters) throws IOException {
        for (int i = 0; i < letters.length(); i++) {
            members.start(letters.substring(i, i + 1), "abc", TTL, false);
        }
    }

    /** The tokens of all the names, which are free; there are so many that each member has granted some. */
    private static LongSummaryStatistics tokens(LockClient client) throws InterruptedException {
        LongSummaryStatistics tokens = new LongSummaryStatistics();
        for (int i = 0; i < NAMES; i++) {
            try (Lease lease =
                    client.lock("job-" + i).tryAcquire(Patience.of(PATIENCE)).orElseThrow()) {
                tokens.accept(lease.token());
            }
        }
        return tokens;
    }

    /** Of how many of the names the lock is to be had, where a member that cannot say is asked for a second. */
    private static int granted(LockClient client) throws InterruptedException {
        int granted = 0;
        for (int i = 0; i < NAMES; i++) {
            try {
                Optional<Lease> lease = client.lock("job-" + i).tryAcquire();
                granted += lease.isPresent() ? 1 : 0;
                lease.ifPresent(Lease::close);
            } catch (LockException nobodyAnswers) {
                // a member that is away, or that grants nothing
            }
        }
        return granted;
    }

    @Test
    @Tag("soak")
    void fromPartitionedNamesToFailOver() throws Exception {
        partitioned.floor("c", AHEAD);
        partitioned.startAll("abc", TTL, true);
        long before;
        try (LockClient client = open("lease")) {
            before = tokens(client).getMax();
            assertThat(before).isGreaterThan(AHEAD);
        }
        partitioned.end("a");
        partitioned.end("b");
        start(led, "ab");
        led.end("a");
        led.end("b");
        start(led, "ab"); // what has waited in vain once does not take itself for one that has opened
        try (LockClient former = open("lease");
                LockClient next = open("failover")) {
            assertThat(granted(former))
                    .as("names of the member that was not moved")
                    .isBetween(1, NAMES - 1);
            await().during(LONG)
                    .atMost(Patience.of(PATIENCE))
                    .until(() -> led.leader().isEmpty());
            assertThat(granted(next)).isZero();
            partitioned.end("c");
            start(led, "c");
            assertThat(tokens(next).getMin()).isGreaterThan(before);
        }
    }

    /** Of three members that have granted by fail-over. */
    private void goBackAlone(LockClient client) throws Exception {
        assertThat(tokens(client).getCount()).isEqualTo(NAMES);
        led.end("c");
        start(partitioned, "c");
    }

    /** Whoever forgets to say with which algorithm it is to go on. */
    @Test
    void aMemberThatGoesBackAloneGrantsNothing() throws Exception {
        led.startAll("abc", TTL, true);
        try (LockClient client = open("failover")) {
            goBackAlone(client);
            try (LockClient former = open("lease")) {
                await().during(SHORT).atMost(Patience.of(PATIENCE)).until(() -> granted(former) == 0);
            }
        }
    }

    /** It is asked for by all others, and has forgotten its votes; then it is a member as before. */
    @Test
    @Tag("soak")
    void aMemberThatWentBackAloneComesBack() throws Exception {
        led.startAll("abc", TTL, true);
        try (LockClient client = open("failover")) {
            goBackAlone(client);
            partitioned.end("c");
            ClusterMember back = led.start("c", "abc", TTL, false);
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> !back.quarantined() && !led.leader().isEmpty());
            led.end(led.leader());
            assertThat(tokens(client).getMin()).isPositive();
        }
    }
}
