// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockMessage.Acquire;
import io.keyway.lock.spi.Owner;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages in words, for who reads a trace. */
class FrameTextTest {
    @ParameterizedTest
    @CsvSource({
        "-1, Acquire site request=1 exclusive ttl=10000ms cache waited=16ms owner=app",
        "0, Acquire site request=1 exclusive ttl=10000ms cache waited=16ms soft owner=app",
        "2000000000, Acquire site request=1 exclusive ttl=10000ms cache waited=16ms soft after 2000ms owner=app"
    })
    void ofARequestWhatSaysSomething(long quiet, String text) {
        Owner owner = new Owner("app", Map.of("k", "v"));
        Acquire asks = new Acquire(
                LeaseKeys.lock("site"),
                1,
                LockMode.EXCLUSIVE,
                1,
                1,
                1,
                10_000_000_000L,
                false,
                true,
                true,
                16_000_000,
                5,
                0,
                0,
                quiet,
                owner);
        assertThat(FrameText.of(asks)).isEqualTo(text);
    }
}
