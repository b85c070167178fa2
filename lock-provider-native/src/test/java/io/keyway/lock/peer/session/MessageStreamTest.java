// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MessageStreamTest {
    @Test
    void aBurstThatHasArrivedLeavesNoRoomBehind() {
        MessageStream stream = new MessageStream();
        int few = stream.places();
        for (int i = 1; i <= 5_000; i++) {
            stream.add(World.number(i));
        }
        int most = stream.places();
        assertThat(most).isGreaterThan(5_000);
        stream.send(5_000);
        stream.acknowledged(4_999);
        assertThat(stream.places()).as("one is missing").isEqualTo(most);
        stream.acknowledged(5_000);
        assertThat(stream.places()).isEqualTo(few);
        assertThat(stream.add(World.number(1))).isEqualTo(5_001);
        assertThat(stream.send(10)).containsExactly(World.number(1));
    }
}
