// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.UnsafeVariants;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.RunJson;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole algorithms in small worlds: every order of what can happen. */
class ExplorerTest {
    private static final int MOST = 2_000_000;

    @Test
    void twoClientsOfTheLeaseService() {
        Searches.complete(Scopes.lease(), MOST);
        Searches.complete(Scopes.leaseAtOnce(), MOST);
    }

    @Test
    void fourProcessesThatSeeOneResourceOrTwo() {
        Searches.complete(Scopes.bucket(), MOST);
    }

    @Test
    void twoMembersOfLamportsQueue() {
        Searches.complete(Scopes.lamport(2, 2), MOST);
    }

    /** One slow link is enough for the source to let two clients in; here all links may be as slow as they like. */
    @Test
    void twoClientsOfThreeLeadersOfTheBakery() {
        Searches.complete(Scopes.bakery(3, 0, 1), MOST);
    }

    @Test
    void aReaderAndAWriterOfThreeLeadersOfTheBakery() {
        Searches.complete(Scopes.bakeryReader(), MOST);
    }

    /** B1: a leader lets the smallest ticket in, whomever else it has let in before. */
    @Test
    void leadersThatLetSeveralInAreFound() {
        Scope scope = Scopes.bakeryRestarted();
        scope.machines(UnsafeBakery.NOT_EXCLUSIVE.machines(), scope.algorithm.clientMachines());
        assertThat(Searches.broken(scope, MOST).broken()).startsWith("R1");
    }

    /** Few states, since the cluster is used for the first time: its members wait for nobody, and have elected. */
    @Test
    void aLeaderThatIsCutOffAndReplaced() {
        Searches.complete(Scopes.bakeryReplaced(2, 6), MOST / 20);
    }

    @Test
    void leadersThatLetReadersInBesideAWriterAreFound() {
        Scope scope = Scopes.bakeryReader();
        scope.machines(UnsafeBakery.LETS_READERS_IN.machines(), scope.algorithm.clientMachines());
        assertThat(Searches.broken(scope, MOST).broken()).startsWith("R1");
    }

    @Test
    void aSearchThatMissesAGoalFails() {
        assertThatThrownBy(() -> Searches.complete(Scopes.lamport(2, 2).reaches("GRANT_AFTER_QUARANTINE"), MOST))
                .hasMessageContaining("GRANT_AFTER_QUARANTINE");
    }

    @Test
    void whatIsFoundCanBeGoneThroughAgain(@TempDir Path directory) {
        Trail found = Searches.broken(unsafe(), MOST);
        assertThat(found.broken()).startsWith("R5");
        Trail read = Trail.read(found.write(directory, new RpcWorld(unsafe())));
        assertThat(read).isEqualTo(found);
        RpcWorld again = new RpcWorld(unsafe());
        assertThat(read.replay(again)).isEqualTo(found.broken());
        assertThat(read.chart(again).lines()).hasSize(found.steps().size() + 2);
    }

    @Test
    void whatIsFoundCanBeLookedAt(@TempDir Path directory) {
        Trail found = Searches.broken(unsafe(), MOST);
        RpcWorld world = new RpcWorld(unsafe());
        Run run = TrailRun.of(found, world);
        assertThat(run.events()).hasSameSizeAs(found.steps());
        assertThat(run.violation()).isEqualTo(found.broken());
        assertThat(run.bars()).extracting(Run.Bar::hold).contains(Run.Hold.BELIEF, Run.Hold.AUTHORITY);
        assertThat(run.events())
                .allMatch(event -> event.sent() <= event.at())
                .anyMatch(event -> event.sent() < event.at());
        found.write(directory, world);
        assertThat(directory.resolve("lease-2-clients.html")).content().contains(RunJson.of(run));
        assertThat(directory.resolve("lease-2-clients.json")).hasContent(RunJson.of(run));
    }

    private static Scope unsafe() {
        LeaseAlgorithm safe = new LeaseAlgorithm(Scopes.CACHE);
        return Scopes.lease()
                .machines(UnsafeVariants.members(UnsafeQueue.FORGETS_THE_FLOOR, Scopes.CACHE), safe.clientMachines());
    }
}
