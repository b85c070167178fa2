// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.Verb;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Unknown outcomes: whatever reply is lost, the caller gets a true answer and the store ends empty. */
class LostReplyTest extends ReferenceClients {

    private LockClient client;

    @BeforeEach
    void openClient() {
        client = open("a");
    }

    @Test
    void ofAnAttemptIsAskedAgainWithTheSameId() throws Exception {
        faults(client).dropReplies(Verb.ATTEMPT, 3);
        CompletableFuture<Lease> future = client.lock("x").acquireAsync();
        time(client).advance(Duration.ofSeconds(1));
        Lease lease = future.get(2, TimeUnit.MINUTES);
        assertThat(lease.remaining())
                .as("belief counts from the attempt that was answered")
                .isGreaterThan(Duration.ofSeconds(6))
                .isLessThan(Duration.ofMillis(7500));
        assertThat(store(client).attempts()).isEqualTo(4);
        lease.close();
        assertEmpty(client);
    }

    @Test
    void ofAnAttemptThatIsGivenUpIsWithdrawn() throws Exception {
        faults(client).dropReplies(Verb.ATTEMPT, 100);
        faults(client).dropReplies(Verb.WITHDRAW, 3);
        CompletableFuture<Optional<Lease>> future = client.lock("x").tryAcquireAsync(Duration.ofMillis(20));
        assertThat(store(client).isEmpty()).as("granted, but nobody knows").isFalse();
        time(client).advance(Duration.ofMillis(20));
        time(client).advance(Duration.ofSeconds(2));
        assertThat(future).failsWithin(Duration.ofSeconds(20));
        assertEmpty(client);
    }

    @Test
    void ofAReleaseIsAnsweredByItsRepetition() throws Exception {
        Lease lease = client.lock("x").acquire();
        faults(client).dropReplies(Verb.RELEASE, 1);
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync().toCompletableFuture();
        assertEmpty(client);
        time(client).advance(Duration.ofMillis(100));
        assertThat(outcome.get(2, TimeUnit.MINUTES)).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void ofEverythingLeavesNothing() throws Exception {
        for (Verb verb : Verb.values()) {
            faults(client).dropReplies(verb, 2);
        }
        CompletableFuture<Lease> first = client.lock("x").acquireAsync();
        time(client).advance(Duration.ofSeconds(1));
        Lease lease = first.get(2, TimeUnit.MINUTES);
        time(client).advance(Duration.ofSeconds(30));
        assertThat(lease.isHeld()).isTrue();
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync().toCompletableFuture();
        time(client).advance(Duration.ofSeconds(1));
        assertThat(outcome.get(2, TimeUnit.MINUTES)).isEqualTo(ReleaseOutcome.RELEASED);
        assertEmpty(client);
    }

    @Test
    void whatCannotBeReleasedIsForgottenWhenItHasSurelyExpired() throws Exception {
        Lease lease = client.lock("x").acquire();
        faults(client).cut(true);
        lease.releaseAsync();
        time(client).advance(Duration.ofSeconds(30));
        assertThat(time(client).armed()).as("the clean-up has ended").isZero();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        faults(client).cut(false);
        client.lock("x").tryAcquire().orElseThrow().close();
        assertEmpty(client);
    }
}
