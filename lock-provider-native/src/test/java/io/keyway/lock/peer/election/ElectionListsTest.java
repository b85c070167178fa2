// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import static io.keyway.lock.peer.election.ElectionWorld.LEASE;
import static io.keyway.lock.peer.election.ElectionWorld.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.ElectionCall.ChangeMembers;
import io.keyway.lock.peer.kernel.PeerView;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Members come and go while the others work. */
class ElectionListsTest {
    private static final List<String> THREE = List.of("a", "b", "c");

    private final ElectionWorld world = new ElectionWorld("a", "b", "c", "d", "e");

    private void startThree() {
        THREE.forEach(id -> world.start(id, false, THREE));
        world.pass(15 * SECOND);
        assertThat(world.view("a").members()).isEqualTo(THREE);
    }

    /** A new member, which is told of those that are there. */
    private void join(String id, List<String> others) {
        world.start(id, true, others);
    }

    private void change(String at, String member, boolean add) {
        ElectionWorld.Node node = world.node(at);
        node.election.called(new ChangeMembers(member, add), node);
        world.pass(0);
    }

    private void assertList(String id, String... members) {
        assertThat(world.view(id).members()).as("list of %s", id).containsExactly(members);
    }

    @Test
    void aNewMemberListensForAMomentAndIsAddedWhenItIsAskedFor() {
        startThree();
        View before = world.view("a");
        join("d", THREE);
        world.pass(5 * SECOND);
        assertThat(world.view("d")).as("nobody knows it yet").isEqualTo(View.NONE);

        change("b", "d", true);
        world.pass(6 * SECOND);

        for (String id : List.of("a", "b", "c", "d")) {
            assertList(id, "a", "b", "c", "d");
            assertThat(world.view(id).seats()).as("leaders stay").isEqualTo(before.seats());
            assertThat(world.leased(id)).as(id).isTrue();
        }
    }

    @Test
    void whoIsNotThereIsNotAdded() {
        startThree();
        View before = world.view("a");

        change("a", "d", true);
        world.pass(30 * SECOND);
        join("d", THREE);
        world.pass(30 * SECOND);

        assertThat(world.view("a")).as("what was wanted is forgotten").isEqualTo(before);
    }

    @Test
    void aMemberThatIsRemovedHearsOfItAndTheOthersGoOn() {
        startThree();

        change("a", "c", false);
        world.pass(SECOND);

        assertList("a", "a", "b");
        assertList("b", "a", "b");
        assertList("c", "a", "b");
        assertThat(world.leased("a")).isTrue();
        assertThat(world.view("a").leaders()).doesNotContain("c");
        world.pass(LEASE);
        assertList("a", "a", "b");
    }

    @Test
    void aMemberThatIsGoneIsRemovedAndAnotherOneTakesItsPlace() {
        startThree();
        world.end("c");
        world.pass(SECOND);

        change("a", "c", false);
        world.pass(10 * SECOND);
        assertList("a", "a", "b");
        join("d", List.of("a", "b"));
        change("b", "d", true);
        world.pass(10 * SECOND);

        assertList("d", "a", "b", "d");
        world.end("a");
        world.pass(20 * SECOND);
        assertThat(world.leased("b")).as("two of three are enough").isTrue();
        assertThat(world.leased("d")).isTrue();
    }

    @Test
    void oneGrowsToFiveAndTwoOfThemCanBeLost() {
        world.start("a", false, List.of("a"));
        world.pass(SECOND);
        List<String> list = List.of("a");
        for (String id : List.of("b", "c", "d", "e")) {
            join(id, List.of("a"));
            change("a", id, true);
            world.pass(10 * SECOND);
            list = world.view("a").members();
            assertThat(list).endsWith(id);
        }
        assertThat(list).containsExactly("a", "b", "c", "d", "e");
        world.end("a");
        world.end("b");
        world.pass(20 * SECOND);

        assertThat(world.leased("c")).isTrue();
        assertThat(world.leasedViews()).hasSize(1);
    }

    /** A supervisor starts it as ever, and its directory is not mounted: the list of its first start is on the line. */
    @Test
    void theFirstMemberOfAGrownClusterThatHasForgottenDoesNotElectItselfAlone() {
        world.start("a", false, List.of("a"));
        world.pass(SECOND);
        for (String id : List.of("b", "c")) {
            join(id, List.of("a"));
            change("a", id, true);
            world.pass(10 * SECOND);
        }
        assertList("a", "a", "b", "c");
        world.end("a");
        world.pass(20 * SECOND);
        assertThat(world.leased("b")).isTrue();

        world.start("a", true, List.of("a"));
        world.pass(LEASE);
        world.open("a");
        world.pass(20 * SECOND);

        assertThat(world.leasedViews()).hasSize(1);
        assertList("a", "a", "b", "c");
        assertThat(world.leased("a")).isTrue();
    }

    /** Those that know it are not reached in time, or run with another algorithm: it waits. */
    @Test
    void whoHasForgottenWaitsForAMemberThatTakesItForOne() {
        world.start("a", true, List.of("a"));
        world.pass(LEASE);
        world.open("a");
        for (int i = 0; i < 60; i++) {
            stranger("b:1");
            world.pass(SECOND);
        }
        assertThat(world.view("a")).isEqualTo(View.NONE);
        world.pass(10 * SECOND);
        assertThat(world.view("a").members()).as("it has gone").containsExactly("a");
    }

    private void stranger(String id) {
        world.node("a").election.called(new PeerView.Stranger(id), world.node("a"));
    }

    /** What it has forgotten may have been said by the longer leases that the others know of. */
    @Test
    void whoHasForgottenWaitsForTheLongerLeasesOfOthers() {
        startThree();
        world.end("a");
        world.longestTtl = 30 * SECOND;
        world.start("a", true, THREE);
        world.pass(LEASE);
        world.open("a");
        world.pass(50 * SECOND);
        assertThat(world.node("a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.pass(15 * SECOND);
        assertThat(world.node("a").election.phase()).isEqualTo(Election.Phase.ELECTED);
    }

    @Test
    void ofTwoNeitherCanBeRemovedByOneAlone() {
        world.start("a", false, List.of("a", "b"));
        world.start("b", false, List.of("a", "b"));
        world.pass(15 * SECOND);
        world.end("b");
        world.pass(SECOND);

        change("a", "b", false);
        world.pass(8 * SECOND);

        assertList("a", "a", "b");
    }

    /** J2: b and c have voted for {a}, and nobody has heard what came of it. */
    @Test
    void aListForWhichAVoterHasVotedHasToAgreeToTheNextOne() {
        assertThat(votes(List.of()).result(true, member -> false)).isEqualTo(VoteCount.Result.ELECTED);
        assertThat(votes(List.of(List.of("a"))).result(true, member -> false)).isEqualTo(VoteCount.Result.OPEN);
    }

    /** Of b and c, for {b, c}. */
    private static VoteCount votes(List<List<String>> open) {
        ViewId asked = new ViewId(4, "c", 1);
        VoteCount votes = new VoteCount();
        votes.begin(asked, THREE, List.of("b", "c"), VoteCount.Seat.KEPT);
        for (String voter : List.of("b", "c")) {
            Identifier identifier = new Identifier(Identifier.USUAL, 1, voter);
            votes.voted(
                    voter, new ElectionMessage.Vote(ElectionWorld.KEY, asked, identifier, View.NONE, 0, 0, open), 0);
        }
        return votes;
    }

    @Test
    void whoCountsVotesAndFindsThatAnotherListCountsByNowBeginsAnewWithThatOne() {
        startThree();
        View before = world.view("a");
        world.hold("b");
        world.hold("c");
        change("a", "c", false);
        ViewId asked = world.node("a").election.promised();
        View later =
                new View(new ViewId(asked.round() - 1, "b", 9), before.seats(), false, List.of("a", "b", "c", "d"));
        Identifier voter = new Identifier(Identifier.USUAL, 1, "b");

        world.say("b", "a", new ElectionMessage.Vote(ElectionWorld.KEY, asked, voter, later, 0, 0, List.of()));
        world.pass(2 * SECOND);

        assertThat(world.view("a")).as("it elected nothing").isEqualTo(before);
        assertThat(world.node("a").members).isEqualTo(later.members());
        assertThat(world.node("a").others).contains("d");
    }

    @Test
    void aMemberThatWasRemovedWhileItWasDownDisturbsNobodyAndVotesForNothing() {
        startThree();
        world.end("c");
        change("a", "c", false);
        world.pass(10 * SECOND);
        View view = world.view("a");

        world.start("c", false, THREE);
        world.pass(60 * SECOND);

        assertThat(world.view("a")).isEqualTo(view);
        assertThat(world.leasedViews()).containsExactly(view.id());
        assertThat(world.leased("c")).isFalse();
    }

    @Test
    void aRestartGoesOnWithTheListOfItsRecordWhateverItsCommandLineSays() {
        startThree();
        join("d", THREE);
        change("a", "d", true);
        world.pass(10 * SECOND);

        world.end("a");
        world.start("a", false, THREE);
        world.pass(SECOND);

        assertList("a", "a", "b", "c", "d");
        assertThat(world.leased("a")).isTrue();
    }

    @Test
    void whoHasLostItsFileAndIsInTheListWaitsForItsFormerLife() {
        startThree();
        world.end("c");
        world.start("c", true, List.of("a", "b"));
        world.pass(10 * SECOND);
        assertThat(world.view("c")).as("its former life may be counted by").isEqualTo(View.NONE);

        world.open("c");
        world.pass(10 * SECOND);

        assertThat(world.view("c")).isEqualTo(world.view("a"));
    }
}
