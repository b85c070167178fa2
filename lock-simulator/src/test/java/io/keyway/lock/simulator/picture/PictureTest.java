// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.picture.Run.Kind;
import io.keyway.lock.simulator.picture.Run.Lifeline;
import io.keyway.lock.simulator.picture.Run.Role;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The chart, the JSON and the page of one small run. */
class PictureTest {
    private static final Run RUN = new Run(
            "a run",
            "keyway simulate </script>",
            "",
            2,
            List.of(new Lifeline("member", Role.MEMBER), new Lifeline("client1", Role.CLIENT)),
            List.of(
                    new Event(1_000_000, Kind.LOCAL, 1, 1, 1_000_000, 0, "asks", Map.of("user 0", "lock n0")),
                    new Event(3_000_000, Kind.MESSAGE, 0, 1, 1_000_000, 7, "Acquire \"n0\"", Map.of("n0", "granted")),
                    new Event(4_000_000, Kind.LOST, 1, 0, 4_000_000, 0, "lost: Granted\n", Map.of())),
            List.of(new Bar(0, Hold.AUTHORITY, "n0", Long.MAX_VALUE, "exclusive", 3_000_000, 9_000_000)));

    @Test
    void theChartHasAColumnForEachProcessAndALineForEachEvent() {
        assertThat(SequenceChart.of(RUN, 10, 0)).isEqualTo("""
                                   member   client1
                    (2 earlier events)
                        1.000 ms     |        *     asks
                        3.000 ms     <---------     Acquire "n0"
                        4.000 ms     ---------x     lost: Granted
                """);
    }

    @Test
    void theChartIsCutOffWhereTheTerminalEnds() {
        assertThat(SequenceChart.of(RUN, 1, 40).lines())
                .hasSize(3)
                .allMatch(line -> line.length() <= 40)
                .contains("    (4 earlier events)")
                .anyMatch(line -> line.endsWith("…"));
    }

    @Test
    void theJsonIsTheDocumentedFormat() {
        assertThat(RunJson.of(RUN)).isEqualTo("""
                {"format":"keyway-run-1","title":"a run","command":"keyway simulate \\u003c/script>","violation":"",\
                "earlier":2,
                "processes":[
                {"name":"member","role":"member"},
                {"name":"client1","role":"client"}],
                "events":[
                {"at":1000000,"kind":"local","process":1,"text":"asks","states":{"user 0":"lock n0"}},
                {"at":3000000,"kind":"message","process":0,"from":1,"sent":1000000,"clock":7,\
                "text":"Acquire \\"n0\\"","states":{"n0":"granted"}},
                {"at":4000000,"kind":"lost","process":1,"from":0,"sent":4000000,"text":"lost: Granted\\u000a"}],
                "bars":[
                {"process":0,"hold":"authority","lock":"n0","token":"9223372036854775807","text":"exclusive",\
                "from":3000000,"to":9000000}]}
                """);
    }

    @Test
    void thePageHoldsTheRunAndNeedsNoNetwork() {
        String page = SpaceTimePage.of(RUN);

        assertThat(page).contains(RunJson.of(RUN)).contains("default-src 'none'");
        assertThat(page).doesNotContain("http:").doesNotContain("https:").doesNotContain("src=");
        assertThat(page.split("</script>", -1)).hasSize(3); // what a run says ends no script
    }
}
