// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The scenarios of the source of transactions that need several nodes, or a net that splits, by their numbers. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class SplitScenariosTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** What is not cut off is to be held, however busy this machine is. */
    private static final Duration MAX_TTL = Patience.lease(Duration.ofSeconds(4));

    @TempDir
    Path directory;

    private TestMembers members;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        members.startGranting("abc", MAX_TTL, true);
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        members.close();
    }

    private String url() {
        return "lock:native://" + String.join(",", members.ids("abc")) + "/keyway?closeTimeout=1s&"
                + TestMembers.limits(MAX_TTL);
    }

    private LockClient client(LockUrl url) {
        LockClient client = Locks.open(url.reveal());
        open.add(client);
        return client;
    }

    private LockClient client() {
        return client(LockUrl.parse(url()));
    }

    /** A name on which that member decides. */
    private String at(String letter) {
        MemberList list = MemberList.parse(String.join(",", members.ids("abc")));
        for (int i = 0; ; i++) {
            if (list.owner("lock" + i).toString().equals(members.id(letter))) {
                return "lock" + i;
            }
        }
    }

    private int waiters(String name) {
        try (LockClient observer = Locks.open(url())) {
            return observer.admin()
                    .show(LockKey.lock(name))
                    .map(status -> status.waiters().size())
                    .orElse(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void until(BooleanSupplier condition) {
        await().atMost(Patience.of(PATIENCE)).until(condition::getAsBoolean);
    }

    /** Disabled in the source: a surrender across nodes, and a node that is gone while its lock is held. */
    @Test
    void scenario16WhatIsSurrenderedAtOneNodeComesBackAndANodeThatIsGoneEndsIt() throws Exception {
        LockTransaction one = client().transaction();
        for (String node : List.of("a", "b", "c")) {
            one.lock(at(node));
        }
        long before = one.token(at("b"));
        LockTransaction two = client().transaction();
        two.lockAsync(List.of(LockRequest.exclusive(at("b"))));
        until(() -> waiters(at("b")) == 1); // who surrenders makes way for those who are there
        one.surrender(at("b"));
        assertThat(two.awaitAll(Patience.of(PATIENCE))).isTrue();
        assertThat(one.status()).isEqualTo(Status.WAITING);
        two.close();
        assertThat(one.awaitAll(Patience.of(PATIENCE))).isTrue();
        assertThat(one.token(at("b"))).isGreaterThan(before);

        members.end("b");
        until(() -> one.status() == Status.LOST);
        one.close();
        LockTransaction three = client().transaction();
        three.lock(at("a"));
        three.lock(at("c"));
        three.lockAsync(List.of(LockRequest.exclusive(at("b"))));
        members.start("b", "abc", MAX_TTL, false);
        assertThat(three.awaitAll(Patience.of(PATIENCE))).isTrue();
        three.ensureHeld();
    }

    /** The source has a leader on each side of a split, and forgets one of them afterwards. */
    @Test
    void scenario19OnEitherSideOfASplitAndAfterItThereIsOneLeader() throws Exception {
        ServerProxies net = ServerProxies.before(members.ids("abc"));
        open.add(net);
        Candidacy island = client(net.through(LockUrl.parse(url()), true))
                .election("service")
                .as("island")
                .stand();
        Candidacy other = null;
        try {
            until(island::isLeading);
            Lease first = island.leadership().orElseThrow();
            other = client().election("service").as("other").stand();
            net.all(FaultProxy::blackHole);
            for (boolean led = false; !led; ) {
                boolean leads = other.isLeading();
                assertThat(leads && island.isLeading()).as("two leaders").isFalse();
                led = leads;
                Thread.onSpinWait();
            }
            Lease second = other.leadership().orElseThrow();
            assertThat(second.token()).isGreaterThan(first.token());
            net.all(FaultProxy::heal);
            for (int i = 0; i < 1_000; i++) {
                assertThat(other.isLeading() && island.isLeading()).isFalse();
            }
            other.close();
            until(island::isLeading);
            assertThat(island.leadership().orElseThrow().token()).isGreaterThan(second.token());
        } finally {
            island.close();
            if (other != null) {
                other.close();
            }
        }
    }
}
