// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MemberIncarnationsTest {
    private final MemberIncarnations<Integer> lives = new MemberIncarnations<>();

    @Test
    void aMemberThatConnectsAgainOrStartsAnewIsNoAlarm() {
        assertThat(lives.startedAnew("a", 1)).isFalse();
        assertThat(lives.returned("a", 1)).isFalse();
        assertThat(lives.startedAnew("a", 1)).isFalse();
        assertThat(lives.returned("a", 1)).isFalse();
        assertThat(lives.startedAnew("a", 2)).isTrue();
        assertThat(lives.returned("a", 2)).isFalse();
        assertThat(lives.returned("b", 1)).as("of another member").isFalse();
    }

    @Test
    void aLifeThatWasOverAndAnswersAgainIsOne() {
        lives.returned("a", 1);
        lives.returned("a", 2);
        assertThat(lives.returned("a", 1)).isTrue();
        assertThat(lives.returned("a", 2)).as("each time").isTrue();
        assertThat(lives.returned("a", 1)).isTrue();
        assertThat(lives.returned("a", 1)).as("but not while one of them stays").isFalse();
    }
}
