// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.SourceSemaphore.Finding;
import io.keyway.lock.peer.queue.SourceSemaphore.Kind;
import org.junit.jupiter.api.Test;

/**
 * Why permits are grants of one authority here, and no counters: the source's semaphore lets more hold than there are
 * permits, without any fault, and so do votes.
 */
class SourceSemaphoreTest {
    @Test
    void aCounterThatDipsBelowZeroMintsPermits() {
        Finding found = new SourceSemaphore(Kind.DIPS_BELOW_ZERO, 1, 2, 4).explore();
        assertThat(found.most()).isEqualTo(3);
        assertThat(found.trace()).hasSizeBetween(5, 14);
    }

    @Test
    void oneBucketIsClean() {
        Finding found = new SourceSemaphore(Kind.DIPS_BELOW_ZERO, 2, 1, 4).explore();
        assertThat(found.most()).isEqualTo(2);
        assertThat(found.trace()).isEmpty();
    }

    @Test
    void countersThatAManagerForgetsAdmitTwiceAsMany() {
        assertThat(new SourceSemaphore(Kind.FORGETS_ONCE, 2, 1, 4).explore().most())
                .isGreaterThan(2);
    }

    @Test
    void aHolderThatDiesUnheardKeepsItsPermitForEver() {
        Finding found = new SourceSemaphore(Kind.DIES_UNHEARD, 2, 1, 2).explore();
        assertThat(found.most()).isEqualTo(2);
        assertThat(found.trace()).isNotEmpty();
    }

    @Test
    void votesAdmitHalfAsManyMore() {
        assertThat(new SourceSemaphore(Kind.VOTES, 2, 1, 4).explore().most()).isEqualTo(3);
    }

    @Test
    void oneAuthorityAdmitsWhatThereIs() {
        for (int processes = 1; processes <= 6; processes++) {
            Finding found = new SourceSemaphore(Kind.ONE_AUTHORITY, 1, 2, processes).explore();
            assertThat(found.most()).isEqualTo(Math.min(2, processes));
            assertThat(found.trace()).isEmpty();
        }
    }
}
