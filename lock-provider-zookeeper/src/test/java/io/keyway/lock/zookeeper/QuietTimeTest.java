// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.zookeeper.QueuePosition.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** When a soft writer's time without readers begins anew, in virtual time. */
class QuietTimeTest {
    private static final Duration TIME = Duration.ofSeconds(2);
    private static final Duration ALMOST = Duration.ofMillis(1_900);
    private static final int NUMBER = 9;
    private static final String SOFT = "c-3-y-0000000009";
    private static final String HOLDS = "a-1-x-0000000001";
    private static final String READER = "b-2-s-0000000002";

    private long now = 5;
    private final QuietTime quiet = new QuietTime(
            () -> {
                throw new AssertionError("what is listed is enough");
            },
            "/keyway/x",
            TIME,
            () -> now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    /** Takes a listing of those and the soft writer; {@code written} is the last that wrote to the node of the name. */
    private Kind look(long written, String... others) {
        List<String> nodes = new ArrayList<>(List.of(others));
        nodes.add(SOFT);
        RequestQueue queue = RequestQueue.of(nodes);
        Stat stat = new Stat();
        stat.setMzxid(written);
        return quiet.look(queue, NUMBER, stat, queue.of(SOFT)).kind();
    }

    @Test
    void itRunsFromTheFirstListing() {
        assertThat(look(1)).isEqualTo(Kind.YIELDS);
        pass(ALMOST);
        assertThat(look(1)).isEqualTo(Kind.YIELDS);
        pass(TIME.minus(ALMOST));
        assertThat(look(1)).isEqualTo(Kind.PASSES);
    }

    /** It has stood in the queue since before the writer came, and knows nothing of it. */
    @Test
    void aReaderThatAskedBeforeBeginsItAnewWhenItIsGranted() {
        assertThat(look(1, HOLDS, READER)).isEqualTo(Kind.YIELDS);
        pass(ALMOST);
        assertThat(look(1, HOLDS, READER)).isEqualTo(Kind.YIELDS);
        assertThat(quiet.left()).isEqualTo(TIME.minus(ALMOST));

        look(1, READER); // it holds by now
        assertThat(quiet.left()).isEqualTo(TIME);

        pass(ALMOST);
        assertThat(look(1)).as("it has left").isEqualTo(Kind.YIELDS);
        pass(TIME.minus(ALMOST));
        assertThat(look(1)).isEqualTo(Kind.PASSES);
    }

    @Test
    void aReaderThatAsksLaterBeginsItAnewByWhatItWrites() {
        look(1);
        pass(ALMOST);
        assertThat(look(2)).isEqualTo(Kind.YIELDS);
        assertThat(quiet.left()).isEqualTo(TIME);
    }

    @Test
    void aWriterThatAsksAnewBeginsItAnew() {
        look(1);
        pass(ALMOST);
        quiet.anew();
        assertThat(quiet.left()).isEqualTo(TIME);
        assertThat(look(1)).isEqualTo(Kind.YIELDS);
        pass(TIME);
        assertThat(look(1)).isEqualTo(Kind.PASSES);
    }
}
