// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import org.junit.jupiter.api.Test;

class PeerTroubleLogTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Unreachable REFUSED = new Unreachable("connection refused", false);
    private static final Unreachable SILENT = new Unreachable("no answer in time", false);
    private static final Unreachable LIST = new Unreachable("the member refuses: MEMBERS", true);
    private static final Unreachable SECRET = new Unreachable("the member has another secret", true);

    private final PeerTroubleLog all = new PeerTroubleLog();

    @Test
    void whatAnOperatorHasToEndIsToldWheneverItComes() {
        assertThat(all.add("b", REFUSED, 0)).isTrue();
        assertThat(all.add("b", LIST, SECOND))
                .as("right behind something harmless")
                .isTrue();
        assertThat(all.add("b", SECRET, 2 * SECOND)).as("another one").isTrue();
        assertThat(all.add("b", REFUSED, 3 * SECOND)).isFalse();
        assertThat(all.add("b", SECRET, 4 * SECOND)).as("the same again").isFalse();
        assertThat(all.add("b", REFUSED, 5 * SECOND)).isFalse();
        assertThat(all.add("b", SECRET, 20 * SECOND))
                .as("the same after a while")
                .isTrue();
        assertThat(all.of("b")).isEqualTo(SECRET);
    }

    /** Each attempt has a port of its own. */
    @Test
    void aSecondProcessOfAMemberIsToldOnceThatItIsRefused() {
        for (int port = 40_000; port < 40_009; port++) {
            Unreachable doubled =
                    new Unreachable("another process runs as member b:7400, and lives; this one is at b:" + port, true);
            assertThat(all.add("a", doubled, port - 40_000L)).isEqualTo(port == 40_000);
        }
    }

    @Test
    void whatEndsByItselfIsToldNowAndThen() {
        assertThat(all.add("b", REFUSED, 0)).isTrue();
        assertThat(all.add("b", SILENT, SECOND)).isFalse();
        assertThat(all.add("c", SILENT, SECOND)).as("of another member").isTrue();
        assertThat(all.add("b", REFUSED, 11 * SECOND)).isTrue();
        all.over("b");
        assertThat(all.of("b")).isNull();
        assertThat(all.add("b", REFUSED, 12 * SECOND)).isTrue();
    }
}
