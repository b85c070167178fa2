// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.Subscription;
import io.keyway.lock.group.ElectionGroup;
import io.keyway.lock.group.GroupMember;
import io.keyway.lock.group.GroupOptions;
import io.keyway.lock.tck.process.Patience;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The programs of docs/elections.md, between the lines that say so. */
class ElectionExamplesTest {
    private static final String ADDRESS = "10.0.0.7:8080";

    private LockClient locks;
    private LockClient other;
    private final List<String> done = new CopyOnWriteArrayList<>();

    @BeforeEach
    void open(TestInfo test) {
        String url = "lock:native:mem://" + test.getTestMethod().orElseThrow().getName() + "?ttl=60s";
        locks = Locks.open(url);
        other = Locks.open(url);
    }

    @AfterEach
    void close() {
        locks.close();
        other.close();
    }

    // singleton begins
    /** Runs the scheduler wherever it leads, until this thread is interrupted while it does not. */
    static void serve(LockClient locks, Scheduler scheduler) throws InterruptedException {
        locks.election("billing/scheduler").lead(lease -> {
            try {
                while (scheduler.mayGoOn()) {
                    lease.ensureHeld();
                    scheduler.runNext(lease.token()); // the token goes with every write
                }
            } catch (InterruptedException | LeaseLostException e) {
                scheduler.stop(); // the leadership was lost, or somebody wants us to end
            }
            return null;
        });
    }
    // singleton ends

    /** A service of which one may run. */
    interface Scheduler {
        boolean mayGoOn();

        void runNext(long token) throws InterruptedException;

        void stop();
    }

    private final class Counting implements Scheduler {
        private final String name;
        private final int runs;
        private int ran;

        Counting(String name, int runs) {
            this.name = name;
            this.runs = runs;
        }

        @Override
        public boolean mayGoOn() {
            return ran < runs;
        }

        @Override
        public void runNext(long token) throws InterruptedException {
            done.add(name + " " + token);
            ran++;
            TimeUnit.MILLISECONDS.sleep(1);
        }

        @Override
        public void stop() {
            done.add(name + " stopped");
        }
    }

    @Test
    void aDeposedSchedulerIsStoppedAndAnotherOneGoesOn() throws Exception {
        Thread first = new Thread(() -> run(locks, new Counting("first", Integer.MAX_VALUE)));
        first.start();
        await().until(() -> !done.isEmpty());
        Thread second = new Thread(() -> run(other, new Counting("second", 3)));
        second.start();
        await().until(() -> other.election("billing/scheduler").candidates().size() == 2);
        Candidate leader = other.election("billing/scheduler").leader().orElseThrow();

        other.admin()
                .breakLease(LockKey.lock("billing/scheduler"), leader.token().orElseThrow(), "the test");
        second.join(Patience.of(Duration.ofSeconds(30)).toMillis());
        await().until(() -> done.get(done.size() - 1).startsWith("first ")
                && !done.get(done.size() - 1).equals("first stopped"));
        locks.close();
        first.join(Patience.of(Duration.ofSeconds(30)).toMillis());

        List<String> ofSecond =
                done.stream().filter(line -> line.startsWith("second")).toList();
        assertThat(ofSecond).hasSize(3);
        // Its last words may come late, and have the token by which they can be refused; it leads again when it is
        // over.
        long deposed = leader.token().orElseThrow();
        int stopped = done.indexOf("first stopped");
        assertThat(done.lastIndexOf("first " + deposed)).isBetween(0, stopped);
        assertThat(done.subList(0, stopped))
                .filteredOn(line -> line.startsWith("first "))
                .containsOnly("first " + deposed);
        assertThat(ofSecond.stream().filter(line -> !line.endsWith("stopped")))
                .allSatisfy(line -> assertThat(Long.parseLong(line.substring("second ".length())))
                        .isGreaterThan(deposed));
    }

    private static void run(LockClient locks, Scheduler scheduler) {
        try {
            serve(locks, scheduler);
        } catch (InterruptedException | LockException e) {
            // The client was closed.
        }
    }

    @Test
    void candidacy() throws Exception {
        // candidacy begins
        Election election = locks.election("billing/scheduler")
                .as("node-7")
                .with(LockOptions.none().withMetadata(Map.of("address", ADDRESS)));

        Candidacy candidacy = election.stand(event -> {
            switch (event.type()) {
                case ELECTED -> done.add("start, under token " + event.token().orElseThrow());
                case UNCERTAIN -> done.add("pause");
                case CERTAIN -> done.add("go on");
                case SURRENDERED -> done.add("stop");
            }
        });
        // candidacy ends
        Lease leadership = candidacy.elected().toCompletableFuture().get(Patience.seconds(20), TimeUnit.SECONDS);
        assertThat(leadership.isHeld()).isTrue();
        await().until(() -> !done.isEmpty());
        candidacy.close();
        await().until(() -> done.contains("stop"));
        assertThat(done.get(0)).startsWith("start, under token ");
    }

    // group begins
    /** Gives numbers; the next leader goes on where this one stopped. */
    static final class Numbers implements GroupMember {
        private long last;

        @Override
        public void elected(long token, Optional<byte[]> handed) {
            last = handed.map(state -> ByteBuffer.wrap(state).getLong()).orElse(token);
        }

        @Override
        public byte[] state() {
            return ByteBuffer.allocate(Long.BYTES).putLong(last).array();
        }

        @Override
        public byte[] called(String from, byte[] request) {
            last++;
            return state();
        }
    }

    /** The next number, of whoever leads. */
    static long next(ElectionGroup numbers) throws Exception {
        byte[] answer = numbers.call(new byte[0], Duration.ofSeconds(5))
                .toCompletableFuture()
                .get();
        return ByteBuffer.wrap(answer).getLong();
    }
    // group ends

    @Test
    void numbersGoOnWithTheNextLeader() throws Exception {
        ElectionGroup first =
                ElectionGroup.stand(locks.election("numbers").as("one"), new Numbers(), GroupOptions.defaults());
        ElectionGroup second =
                ElectionGroup.stand(other.election("numbers").as("two"), new Numbers(), GroupOptions.defaults());
        try (first;
                second) {
            await().until(() -> first.isLeading() || second.isLeading());
            long before = next(first);
            assertThat(next(second)).isEqualTo(before + 1);
            assertThat(next(first)).isEqualTo(before + 2);
            (first.isLeading() ? first : second).close();
            await().until(() -> first.isLeading() || second.isLeading());
            assertThat(next(first.isLeading() ? first : second)).isEqualTo(before + 3);
        }
    }

    @Test
    void following() throws Exception {
        Candidacy seven = locks.election("billing/scheduler")
                .as("node-7")
                .with(LockOptions.none().withMetadata(Map.of("address", ADDRESS)))
                .stand();
        await().until(seven::isLeading);
        Candidacy eight = other.election("billing/scheduler").as("node-8").stand();
        await().until(() -> other.election("billing/scheduler").candidates().size() == 2);
        // following begins
        Election election = other.election("billing/scheduler");
        Optional<String> address =
                election.leader().map(leader -> leader.metadata().get("address"));
        for (Candidate each : election.candidates()) { // the leader first
            done.add(each.name() + (each.leads() ? " leads" : " stands"));
        }
        try (Subscription observer = election.observe(event -> done.add(event.type() + " " + event.leader()))) {
            // Before maintenance: another one is to lead.
            boolean handedOver = seven.handOver("node-8", Duration.ofSeconds(10));
            // following ends
            assertThat(handedOver).isTrue();
            await().until(eight::isLeading);
            assertThat(observer).isNotNull();
        }
        assertThat(address).contains(ADDRESS);
        assertThat(done).startsWith("node-7 leads", "node-8 stands");
    }
}
