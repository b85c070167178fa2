// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.simulator.Options.Profile;
import io.keyway.lock.simulator.picture.Run;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many messages members say to each other to elect a leader, to replace it, and to keep it. */
class FailoverMessagesTest {
    private static final Pattern WORD = Pattern.compile(
            "\\b(ElectionDate|Vote|Desist|Leaders|Retire|Rerun|Confirm|Confirmed|Take|Taken|Write|Written)\\b");

    private static Run run(int members, String faults) {
        Plan plan = Plan.parse("""
                options seed=3 profile=FAILOVER budget=STEADY members=%d spares=0 clients=1 users=1 names=1 \
                ordered=true latency=1000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=1000000 faultPhase=105000000000 faults=0 acts=2 maxTtl=60000000000 \
                drift=0 outOfSpec=false purityPerMille=0
                %sact lock at 31s client 1 user 0 name 0 wait 0ns hold 1s
                listed mishaps 0
                """.formatted(members, faults));
        Campaign.Recorded recorded = Campaigns.of(Profile.FAILOVER).record(plan, "", "", 1_000_000);
        assertThat(recorded.result().violation()).isNull();
        return recorded.picture();
    }

    /** By their names, from that second to the other one. */
    private static Map<String, Integer> counted(Run run, long from, long to) {
        Map<String, Integer> counts = new TreeMap<>();
        for (Run.Event event : run.events()) {
            boolean isMessage = event.kind() == Run.Kind.MESSAGE;
            if (isMessage && event.sent() >= from * Nanos.SECOND && event.sent() < to * Nanos.SECOND) {
                Matcher words = WORD.matcher(event.text());
                while (words.find()) {
                    counts.merge(words.group(), 1, Integer::sum);
                }
            }
        }
        return counts;
    }

    /** A new client asks for a lock meanwhile, and is noted: 30 s are 20 leases of the view. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void aLeaderThatStaysCostsFourConfirmationsOfEachMemberByEachOtherInALease(int members) {
        int asked = 20 * 4 * members * (members - 1);
        int noted = members - 1;

        assertThat(counted(run(members, ""), 20, 50))
                .isEqualTo(Map.of("Confirm", asked, "Confirmed", asked, "Write", noted, "Written", noted));
    }

    /**
     * All who are left say when they want an election, and say it again to whom they hear it from; one asks for votes;
     * and it says who leads, as the others do. Then all ask each other once more, and the leader has its epochs
     * recorded.
     */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void anElectionAndATakeOverCostNoMoreThanIsWrittenDown(int members) {
        int left = members - 1;
        int electing = (left - 1) * (2 * left + 4);
        int round = 2 * left * (left - 1);
        int confirming = (10 * 4 + 2) * round + 3 * (left - 1); // in ten leases, whose ends are within a round
        Map<String, Integer> counts = Map.of();
        for (int lost = 0; lost < members && counts.isEmpty(); lost++) {
            counts = counted(run(members, "fault CRASH at 80s for 24s node %d amount 0\n".formatted(-lost)), 80, 95);
            int confirmed = counts.remove("Confirm") + counts.remove("Confirmed");
            assertThat(confirmed).isBetween(39 * round, confirming);
            int notes = 0;
            for (String word : List.of("Take", "Taken", "Write", "Written")) {
                notes += counts.getOrDefault(word, 0);
                counts.remove(word);
            }
            assertThat(notes).as("about clients").isLessThanOrEqualTo(6 * (left - 1));
        }
        assertThat(counts).as("one of them leads").containsEntry("Vote", left - 1);
        int all = counts.values().stream().mapToInt(each -> each).sum();
        assertThat(all).as(counts.toString()).isLessThanOrEqualTo(electing);
    }
}
