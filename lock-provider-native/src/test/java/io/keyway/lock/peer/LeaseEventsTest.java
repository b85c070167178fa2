// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.OutcomeUnknownException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** What a program is told of its leases and connections, on a clock that the test moves. */
class LeaseEventsTest {
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration EIGHTH = TTL.dividedBy(8);

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private LockClient alice;
    private LockClient bob;
    private MemoryWorld world;

    @BeforeEach
    void open(TestInfo test) {
        String url = "lock:native:mem://" + test.getTestMethod().orElseThrow().getName() + "?clock=manual";
        alice = Locks.open(url, ClientOptions.defaults().withName("alice"));
        bob = Locks.open(url, ClientOptions.defaults().withName("bob"));
        world = alice.unwrap(MemoryWorld.class);
        alice.addListener(events::add);
    }

    @AfterEach
    void close() {
        alice.close();
        bob.close();
    }

    private List<LockEvent.Type> types() {
        world.advance(Duration.ZERO);
        return events.stream().map(LockEvent::type).toList();
    }

    @Test
    void aRenewalThatIsOverdueIsToldAtFiveEighthsAndItsRecoveryToo() throws Exception {
        Lease lease = alice.lock("a").acquire();
        world.cut(true);
        world.advance(EIGHTH.multipliedBy(5).minusNanos(1));
        assertThat(types()).containsExactly(LockEvent.Type.CONNECTED, LockEvent.Type.GRANTED);
        world.advance(Duration.ofNanos(1));
        assertThat(lease.state()).isEqualTo(Lease.State.DOUBTFUL);
        assertThat(events.get(2)).satisfies(event -> {
            assertThat(event.type()).isEqualTo(LockEvent.Type.DOUBTFUL);
            assertThat(event.key()).isEqualTo(LockKey.lock(LockName.of("a")));
            assertThat(event.token()).hasValue(lease.token());
            assertThat(event.after()).isEqualTo(EIGHTH.multipliedBy(5));
        });
        world.cut(false);
        world.advance(EIGHTH.minusMillis(1));
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(types().stream().filter(type -> type == LockEvent.Type.DOUBTFUL))
                .hasSize(1);
        assertThat(types().stream().filter(type -> type == LockEvent.Type.RECOVERED))
                .hasSize(1);
        world.advance(TTL.multipliedBy(5));
        assertThat(types())
                .doesNotContain(LockEvent.Type.LOST)
                .filteredOn(LockEvent.Type.DOUBTFUL::equals)
                .hasSize(1);
    }

    @Test
    void doubtIsToldBeforeTheLossAndOnlyOnce() throws Exception {
        alice.lock("a").acquire();
        world.cut(true);
        world.advance(TTL.multipliedBy(3));
        assertThat(types())
                .containsSubsequence(LockEvent.Type.GRANTED, LockEvent.Type.DOUBTFUL, LockEvent.Type.LOST)
                .filteredOn(type -> type == LockEvent.Type.DOUBTFUL
                        || type == LockEvent.Type.LOST
                        || type == LockEvent.Type.RECOVERED)
                .containsExactly(LockEvent.Type.DOUBTFUL, LockEvent.Type.LOST);
    }

    @Test
    void allLeasesOfOneTtlAreInDoubtTogetherAndThoseOfALongerOneAreNot() throws Exception {
        alice.lock("a").acquire();
        alice.lock("b").acquire();
        alice.lock("c").with(LockOptions.none().withTtl(TTL.multipliedBy(4))).acquire();
        world.cut(true);
        world.advance(EIGHTH.multipliedBy(5));
        assertThat(events)
                .filteredOn(event -> event.type() == LockEvent.Type.DOUBTFUL)
                .extracting(event -> String.valueOf(event.key()))
                .containsExactly("lock a", "lock b");
    }

    @Test
    void anIdleCacheIsInNobodysDoubt() throws Exception {
        alice.lock("a").acquire().close();
        world.cut(true);
        world.advance(TTL.multipliedBy(2));
        assertThat(types()).doesNotContain(LockEvent.Type.DOUBTFUL, LockEvent.Type.LOST);
    }

    @Test
    void aRestartOfTheMemberIsADoubtUntilItHasConfirmedTheLease() throws Exception {
        Lease lease = alice.lock("a").acquire();
        world.cut(true);
        world.restart();
        world.advance(Duration.ofSeconds(1));
        world.cut(false);
        world.advance(Duration.ofSeconds(4));
        assertThat(lease.isHeld()).isTrue();
        assertThat(types())
                .containsSubsequence(LockEvent.Type.DOUBTFUL, LockEvent.Type.RECOVERED)
                .doesNotContain(LockEvent.Type.LOST);
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
    }

    @Test
    void connectionsAreToldAndEndNothing() throws Exception {
        Lease lease = alice.lock("a").acquire();
        assertThat(types()).containsExactly(LockEvent.Type.CONNECTED, LockEvent.Type.GRANTED);
        assertThat(events.get(0).server())
                .hasValueSatisfying(server -> assertThat(server).startsWith("mem://"));
        assertThat(events.get(0).key()).isNull();
        world.restart();
        world.advance(Duration.ofSeconds(2));
        assertThat(types())
                .containsSubsequence(LockEvent.Type.CONNECTED, LockEvent.Type.DISCONNECTED, LockEvent.Type.CONNECTED);
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void theReasonOfABreakReachesTheHolder() throws Exception {
        Lease lease = alice.lock("a").acquire();
        LockKey key = LockKey.lock(LockName.of("a"));
        assertThat(bob.admin().breakLease(key, lease.token(), "stuck since\nnoon " + "é".repeat(600)))
                .isTrue();
        LeaseLoss loss = lease.lost().toCompletableFuture().join();
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(loss.detail()).startsWith("broken: stuck since noon é").hasSizeLessThan(300);
        assertThat(types()).endsWith(LockEvent.Type.LOST);
        assertThat(bob.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aBreakOfAHolderThatCannotBeReachedWaitsForTheEndOfItsLease() throws Exception {
        Lease lease = alice.lock("a").acquire();
        CompletableFuture<Lease> next = bob.lock("a").acquireAsync();
        world.cut(true);
        CompletableFuture<Boolean> broken = CompletableFuture.supplyAsync(() -> {
            try {
                return bob.admin().breakLease(LockKey.lock(LockName.of("a")), lease.token(), "unreachable");
            } catch (OutcomeUnknownException e) {
                return true;
            } catch (InterruptedException e) {
                return false;
            }
        });
        world.advance(EIGHTH.multipliedBy(6).minusNanos(1));
        assertThat(lease.isHeld()).isTrue();
        assertThat(next).isNotDone();
        world.advance(TTL);
        assertThat(lease.isHeld()).isFalse();
        assertThat(next.join().token()).isGreaterThan(lease.token());
        assertThat(broken.join()).isTrue();
    }
}
