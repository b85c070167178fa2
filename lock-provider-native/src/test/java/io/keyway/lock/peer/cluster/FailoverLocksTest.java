// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members of which one leads, and users who see that another one does. */
@Execution(ExecutionMode.CONCURRENT)
class FailoverLocksTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private TestMembers members;
    private String maxTtl = "";

    private void start(Duration longest) throws IOException {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c");
        members.startAll("abc", longest, true);
        maxTtl = longest.toSeconds() + "s";
    }

    @AfterEach
    void end() {
        members.close();
    }

    private LockClient open() {
        return open("abc", "");
    }

    private LockClient open(String letters, String options) {
        return Locks.open("lock:native:failover://" + String.join(",", members.ids(letters)) + "/keyway?maxTtl="
                + maxTtl + (options.contains("ttl=") ? "" : "&ttl=" + maxTtl) + options);
    }

    /** The member that leads, as all others have heard. */
    private String leader() {
        return await().atMost(Patience.of(PATIENCE)).until(() -> members.leader(), leader -> !leader.isEmpty());
    }

    @Test
    void aClusterThatHasNeverRunGrantsAsSoonAsItHasElected() throws Exception {
        start(Duration.ofMinutes(10));
        try (LockClient one = open();
                LockClient two = open()) {
            Lease held = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(two.lock("job").tryAcquire()).isEmpty();
            held.close();
            Lease next = two.lock("job").tryAcquire().orElseThrow();
            assertThat(next.token()).isGreaterThan(held.token());
        }
    }

    @Test
    void whoHoldsALockKeepsItWhenAnotherMemberTakesOver() throws Exception {
        start(Duration.ofSeconds(20));
        try (LockClient one = open();
                LockClient two = open()) {
            Lease held = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            String former = leader();
            members.end(former);
            assertThat(two.lock("other").tryAcquire(Patience.of(PATIENCE))).isPresent();
            assertThat(leader()).isNotEqualTo(former);
            assertThat(two.lock("job").tryAcquire()).isEmpty();
            // Its belief ends 15 s after the last word of a leader that it has answered.
            await().atMost(Patience.of(PATIENCE)).until(() -> held.remaining().compareTo(Duration.ofSeconds(14)) > 0);
            assertThat(held.isHeld()).isTrue();
            held.close();
            assertThat(two.lock("job").tryAcquire()).isPresent();
        }
    }

    /** The longest lease is of one second: nobody waits for the ten minutes that one may last. */
    @Test
    void whoWaitsIsServedByTheNextLeaderWithAHigherToken() throws Exception {
        start(Duration.ofMinutes(10));
        try (LockClient one = open("abc", "&ttl=1s");
                LockClient two = open("abc", "&ttl=1s&cache=off")) {
            Lease held = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            CompletableFuture<Lease> waiting = two.lock("job").acquireAsync().toCompletableFuture();
            members.end(leader());
            held.close(); // with so short a ttl its client may have kept it, or not
            Lease next = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(held.isHeld()).isFalse();
            assertThat(next.token()).isGreaterThan(held.token());
            next.close();
            String second = leader();
            members.end(second); // one of three is left
            assertThatThrownBy(() -> two.lock("job").tryAcquire(Duration.ofSeconds(3)))
                    .isInstanceOf(LockUnavailableException.class);
            members.start(second, "abc", Duration.ofMinutes(10), false);
            Lease last = two.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(last.token()).isGreaterThan(next.token());
        }
    }

    /** The longest lease is of ten minutes, and all that hold one say so at once. */
    @Test
    void theNextLeaderGrantsAsSoonAsAllThatCanHoldSomethingHaveSaidWhatTheyHold() throws Exception {
        start(Duration.ofMinutes(10));
        try (LockClient one = open();
                LockClient two = open()) {
            Lease held = one.lock("held").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            members.end(leader());
            Lease other = two.lock("free").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(two.lock("held").tryAcquire()).isEmpty();
            assertThat(held.isHeld()).isTrue();
            held.close();
            other.close();
        }
    }
}
