// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scenarios of the source's leader that one server of locks can show; in virtual time. */
class LeaderScenariosTest extends InOneWorld {
    private final List<Candidacy> candidacies = new ArrayList<>();

    private Candidacy stand(String name) {
        Candidacy candidacy = client().election("service")
                .as(name)
                .with(LockOptions.none().withMetadata(Map.of("stored", "by " + name)))
                .stand();
        candidacies.add(candidacy);
        return candidacy;
    }

    private Optional<Candidacy> leader() {
        List<Candidacy> leading =
                candidacies.stream().filter(Candidacy::isLeading).toList();
        assertThat(leading).hasSizeLessThan(2);
        return leading.stream().findFirst();
    }

    private void allSee(String leader) throws InterruptedException {
        for (LockClient each : clients) {
            Candidate seen = each.election("service").leader().orElseThrow();
            assertThat(seen.name()).isEqualTo(leader);
            assertThat(seen.metadata()).containsEntry("stored", "by " + leader);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void scenario18OfAGroupOneLeadsAndAllSeeIt(int size) throws Exception {
        for (int i = 0; i < size; i++) {
            stand("c" + i);
        }
        for (int left = size; left > 0; left--) {
            world.advanceUntil(() -> leader().isPresent(), SOON);
            Candidacy leader = leader().orElseThrow();
            allSee("c" + candidacies.indexOf(leader));
            leader.close();
        }
    }

    @Test
    void scenario20WhoeverJoinsSeesTheLeaderThatIsThere() throws Exception {
        List<ElectionEvent> seen = Collections.synchronizedList(new ArrayList<>());
        stand("first");
        world.advanceUntil(() -> leader().isPresent(), SOON);
        for (String name : List.of("second", "third", "fourth")) {
            stand(name);
            clients.get(clients.size() - 1).election("service").observe(seen::add);
            world.advance(Duration.ofSeconds(2));
            allSee("first");
        }
        assertThat(seen)
                .hasSize(3)
                .allSatisfy(event -> assertThat(event.leader()).isEqualTo("first"));
        candidacies.get(0).close();
        world.advanceUntil(() -> leader().isPresent(), SOON);
        allSee("second");
        world.advanceUntil(() -> seen.size() == 9, SOON);
        assertThat(seen.subList(3, 9))
                .extracting(event -> event.type() + " " + event.leader())
                .containsOnly("SURRENDERED first", "ELECTED second");
    }

    @Test
    void scenario22ARestartOfTheServerChangesNoLeader() throws Exception {
        stand("first");
        stand("second");
        world.advanceUntil(() -> leader().isPresent(), SOON);
        long token = candidacies.get(0).leadership().orElseThrow().token();
        world.restart();
        for (int i = 0; i < 60; i++) {
            world.advance(Duration.ofSeconds(1));
            assertThat(candidacies.get(1).isLeading()).isFalse();
        }
        assertThat(candidacies.get(0).leadership().orElseThrow().token()).isEqualTo(token);
        allSee("first");
    }
}
