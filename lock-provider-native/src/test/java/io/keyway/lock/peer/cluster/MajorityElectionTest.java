// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Elections by a majority of three members of {@code lock:native:agent://}, whose net splits and heals. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class MajorityElectionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** A leader that can reach a majority is to lead on, however busy this machine is. */
    private static final Duration MAX_TTL = Patience.lease(Duration.ofSeconds(4));

    @TempDir
    Path directory;

    private TestMembers members;
    private NodeSet nodes;
    private final List<AutoCloseable> open = new ArrayList<>();

    /** A candidate, and its links to the members. */
    private record Stands(Election election, Candidacy candidacy, List<ServerProxies> links) {
        void links(Consumer<FaultProxy> change) {
            links.forEach(link -> link.all(change));
        }
    }

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        nodes = NodeSet.of(NodeRule.MAJORITY, members.ids("abc"));
        members.startGranting("abc", MAX_TTL, true);
    }

    @AfterEach
    void end() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        members.close();
    }

    private Stands stand(String name) throws Exception {
        List<ServerProxies> links = new ArrayList<>();
        Map<String, String> addresses = new HashMap<>();
        for (String node : nodes.nodes()) {
            ServerProxies link = ServerProxies.before(List.of(node));
            open.add(link);
            links.add(link);
            addresses.putAll(link.addresses());
        }
        LockClient client = Locks.open("lock:native:agent://" + String.join(",", nodes.nodes())
                + "/keyway?closeTimeout=1s&" + TestMembers.limits(MAX_TTL) + "&" + AddressMap.OPTION.name() + "="
                + new AddressMap(addresses));
        open.add(client);
        Election election = client.election("service")
                .at(nodes)
                .as(name)
                .with(LockOptions.none().withMetadata(Map.of("address", "of " + name)));
        return new Stands(election, election.stand(), links);
    }

    private static Stands leader(List<Stands> all) {
        await().atMost(Patience.of(PATIENCE))
                .until(() -> all.stream().anyMatch(each -> each.candidacy().isLeading()));
        return all.stream()
                .filter(each -> each.candidacy().isLeading())
                .findFirst()
                .orElseThrow();
    }

    private static long token(Stands leader) {
        return leader.candidacy().leadership().map(Lease::token).orElse(0L);
    }

    /** Who was cut off stops by its own clock; the others elect; when the net heals the new one leads on. */
    @Test
    void ofASplitNetTheMajorityElects() throws Exception {
        List<Stands> all = List.of(stand("one"), stand("two"), stand("three"));
        Stands first = leader(all);
        long token = token(first);
        first.links().get(0).all(FaultProxy::blackHole);
        first.links().get(1).all(FaultProxy::blackHole);
        await().atMost(Patience.of(PATIENCE)).until(() -> !first.candidacy().isLeading());

        List<Stands> others = all.stream().filter(each -> !each.equals(first)).toList();
        Stands second = leader(others);
        assertThat(first.candidacy().isLeading()).isFalse();
        assertThat(token(second)).isGreaterThan(token);

        first.links(FaultProxy::heal);
        await().atMost(Patience.of(PATIENCE))
                .until(() -> second.election().candidates().stream()
                        .anyMatch(each -> each.name().equals(first.candidacy().name())));
        assertThat(second.candidacy().isLeading()).isTrue();
        second.candidacy().close();
        Stands third = leader(all.stream().filter(each -> !each.equals(second)).toList());
        assertThat(third).isNotSameAs(second);
    }

    /** On three islands of one member each nobody leads. */
    @Test
    void withoutAMajorityNobodyLeads() throws Exception {
        List<Stands> all = List.of(stand("one"), stand("two"), stand("three"));
        leader(all);
        for (int who = 0; who < 3; who++) {
            for (int node = 0; node < 3; node++) {
                all.get(who).links().get(node).all(who == node ? FaultProxy::heal : FaultProxy::blackHole);
            }
        }
        await().atMost(Patience.of(PATIENCE))
                .until(() -> all.stream().noneMatch(each -> each.candidacy().isLeading()));
        all.forEach(each -> each.links(FaultProxy::heal));
        leader(all);
    }

    /** Whichever it is: the leader has two of them, in the order of their ids, and others wait at the first. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void oneMemberMayBeAway(int place) throws Exception {
        Stands one = stand("one");
        leader(List.of(one));
        long before = token(one);
        Stands two = stand("two");
        await().atMost(Patience.of(PATIENCE))
                .until(() -> two.election().candidates().size() == 2);
        members.end(List.of("a", "b", "c").stream()
                .filter(each -> members.id(each).equals(nodes.nodes().get(place)))
                .findFirst()
                .orElseThrow());
        one.candidacy().close();
        leader(List.of(two));
        assertThat(token(two)).isGreaterThan(before);
        Stands three = stand("three");
        two.candidacy().close();
        leader(List.of(three));
        assertThat(three.election().leader().map(Candidate::name)).contains("three");
    }

    @Test
    void allSeeWhoLeadsAndAHandOverNamesTheNext() throws Exception {
        List<Stands> all = List.of(stand("one"), stand("two"), stand("three"));
        Stands first = leader(all);
        await().atMost(Patience.of(PATIENCE))
                .until(() -> first.election().candidates().size() == 3);
        Candidate seen = all.get(2).election().leader().orElseThrow();
        assertThat(seen.name()).isEqualTo(first.candidacy().name());
        assertThat(seen.token()).hasValue(token(first));
        assertThat(seen.metadata()).containsEntry("address", "of " + seen.name());

        List<String> events = new CopyOnWriteArrayList<>();
        open.add(first.election()
                .observe(event -> events.add(event.type() + " " + event.leader()), Duration.ofMillis(50)));
        String next = all.stream()
                .map(each -> each.candidacy().name())
                .filter(name -> !name.equals(seen.name()))
                .reduce((former, latter) -> latter)
                .orElseThrow();
        assertThat(first.candidacy().handOver(next, PATIENCE)).isTrue();
        assertThat(leader(all).candidacy().name()).isEqualTo(next);
        await().atMost(Patience.of(PATIENCE))
                .untilAsserted(() -> assertThat(events)
                        .startsWith(ElectionEvent.Type.ELECTED + " " + seen.name())
                        .endsWith(ElectionEvent.Type.ELECTED + " " + next));
    }

    /** The first that is in doubt may be a level above the election's name, at either of its nodes. */
    @Test
    void doubtIsToldAndItsEnd() throws Exception {
        Stands first = stand("one");
        leader(List.of(first));
        List<ElectionEvent.Type> events = new CopyOnWriteArrayList<>();
        first.candidacy().close();
        Candidacy again = first.election().stand(event -> events.add(event.type()));
        open.add(again);
        again.elected().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        first.links(FaultProxy::blackHole);
        await().atMost(Patience.of(PATIENCE)).until(() -> events.contains(ElectionEvent.Type.UNCERTAIN));
        first.links(FaultProxy::heal);
        await().atMost(Patience.of(PATIENCE))
                .until(() ->
                        events.contains(ElectionEvent.Type.CERTAIN) || events.contains(ElectionEvent.Type.SURRENDERED));
    }

    @Test
    void whatCannotBeAnElectionOverNodesIsRefused() throws Exception {
        Election election = stand("one").election();
        assertThatIllegalStateException().isThrownBy(() -> election.at(nodes)).withMessageContaining("named already");
        LockClient client = Locks.open(
                "lock:native:agent://" + String.join(",", nodes.nodes()) + "/keyway?" + TestMembers.limits(MAX_TTL));
        open.add(client);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.election("service").at(NodeSet.of(NodeRule.ANY, nodes.nodes())));
        assertThat(client.election("service").leader().map(Candidate::name)).isEqualTo(Optional.empty());
    }
}
