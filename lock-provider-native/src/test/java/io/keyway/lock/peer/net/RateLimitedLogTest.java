// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RateLimitedLogTest {
    @Test
    void oneLineIsSaidInTenSecondsAndTheNextCountsTheOthers() {
        List<String> lines = new ArrayList<>();
        long[] now = {Long.MAX_VALUE - 5};
        RateLimitedLog complaints = new RateLimitedLog("a link", (level, line) -> lines.add(line), () -> now[0]);
        EmbeddedChannel channel = new EmbeddedChannel();
        complaints.say(channel, "one");
        complaints.say(channel, "two");
        now[0] += Duration.ofSeconds(10).toNanos() - 1;
        complaints.say(channel, "three");
        assertThat(lines).containsExactly("a link was closed: one");
        now[0]++;
        complaints.say(channel, "four");
        assertThat(lines)
                .containsExactly(
                        "a link was closed: one",
                        "a link was closed: four (and 2 more since the last line of this kind)");
        now[0] += Duration.ofSeconds(10).toNanos();
        complaints.say(channel, "five");
        assertThat(lines).last().isEqualTo("a link was closed: five");
    }

    @Test
    void whatAPeerSentIsShownWithoutControlCharactersAndNotAtLength() {
        assertThat(RateLimitedLog.shown("a\u001b[31m\r\nb\u202e")).isEqualTo("a?[31m??b?");
        assertThat(RateLimitedLog.shown("x".repeat(10_000))).hasSize(300);
    }
}
