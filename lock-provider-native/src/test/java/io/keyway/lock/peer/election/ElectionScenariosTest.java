// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import static io.keyway.lock.peer.election.ElectionWorld.KEY;
import static io.keyway.lock.peer.election.ElectionWorld.LEASE;
import static io.keyway.lock.peer.election.ElectionWorld.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.session.SeatKept;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the source's text says of its election, what it leaves out, and rules V1 and V5 with a schedule each. */
class ElectionScenariosTest {
    private static final String[] FIVE = {"a", "b", "c", "d", "e"};
    private static final ElectionSettings ONE_LEADER =
            new ElectionSettings(KEY, List.of(new Key(200, "user")), 1, Identifier.USUAL);

    private static ElectionWorld withPriorities(Map<String, Integer> priorities, String... ids) {
        return new ElectionWorld(
                        id -> new Election(ElectionWorld.settings(priorities.getOrDefault(id, Identifier.USUAL))), ids)
                .start();
    }

    private static ElectionWorld.Node node(ElectionWorld world, String id) {
        return world.node(id);
    }

    private static List<String> leaders(ElectionWorld world, String at) {
        List<String> leaders = new ArrayList<>(world.view(at).leaders());
        leaders.sort(null);
        return leaders;
    }

    /** An election by which everybody counts. */
    private static void assertElected(ElectionWorld world, String... ids) {
        for (String id : ids) {
            assertThat(node(world, id).election.phase()).isEqualTo(Election.Phase.ELECTED);
            assertThat(world.view(id)).isEqualTo(world.view(ids[0]));
            assertThat(world.leased(id)).as("leased at " + id).isTrue();
        }
    }

    @Test
    void theSmallestPrioritiesLead() {
        ElectionWorld world = withPriorities(Map.of("b", 1, "d", 2, "e", 3), FIVE);
        assertElected(world, FIVE);
        assertThat(leaders(world, "a")).containsExactly("b", "d", "e");
    }

    /** And so it can ask them for its clients, as any member that leads not. */
    @Test
    void s8_whoIsOffKnowsWhoLeads() {
        ElectionWorld world = withPriorities(Map.of("a", Identifier.OFF, "c", Identifier.OFF), FIVE);
        assertElected(world, FIVE);
        assertThat(leaders(world, "a")).containsExactly("b", "d", "e");
        assertThat(leaders(world, "c")).containsExactly("b", "d", "e");
    }

    @Test
    void thePauseEndsEarlyWhenAllAreThere() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        assertElected(world, FIVE); // and no time has passed
        assertThat(world.view("a").seats()).hasSize(3);
    }

    /** It is heard, and does not know that it leads: it serves nobody for as long as it waits for what it forgot. */
    @Test
    void aLeaderThatComesBackSoonAndHasForgottenLosesItsSeat() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        String gone = world.view("a").leaders().get(0);
        world.end(gone);
        world.pass(SECOND);
        world.start(gone, true);
        world.pass(20 * SECOND);
        String other = gone.equals("a") ? "b" : "a";
        assertThat(world.view(other).leaders()).hasSize(3).doesNotContain(gone);
        assertThat(world.leased(other)).isTrue();
    }

    /** Others compute by the leases of today how long leaders are silent; what was confirmed by longer ones lasts. */
    @Test
    void aMemberWhoseLeasesWereLongerNeitherVotesNorConfirmsBeforeTheyAreOver() {
        ElectionWorld world = new ElectionWorld("a", "b", "c").start();
        world.end("a");
        world.startsAfterLongerLeases("a", 60 * SECOND);
        world.end("b");
        world.pass(60 * SECOND - world.node("a").quarantine() - 1);
        assertThat(world.leased("c")).as("by itself alone").isFalse();
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.pass(20 * SECOND);
        assertElected(world, "a", "c");
    }

    /** They open one after the other, and who opens late has not heard the dates of the others. */
    @Test
    void aClusterThatHasNeverRunElectsAtOnceWhenAllHaveOpened() {
        for (List<String> order : List.of(List.of("a", "b", "c"), List.of("c", "a", "b"), List.of("b", "c", "a"))) {
            ElectionWorld world = new ElectionWorld("a", "b", "c");
            order.forEach(id -> world.start(id, true));
            order.forEach(world::openFirst);
            assertElected(world, "a", "b", "c");
            assertThat(world.view("a").first()).isTrue();
        }
    }

    @Test
    void whoeverMayHaveLivedBeforeWaitsForItsVotesToLapse() {
        ElectionWorld world = new ElectionWorld("a", "b", "c");
        List.of("a", "b", "c").forEach(id -> world.start(id, true));
        List.of("a", "b", "c").forEach(world::open);
        world.pass(4 * SECOND);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.pass(SECOND);
        assertElected(world, "a", "b", "c"); // and nobody waits for whoever is there
    }

    @Test
    void thePauseEndsAtItsDateWhenAMajorityIsThere() {
        ElectionWorld world = new ElectionWorld(FIVE);
        List.of("a", "b").forEach(id -> world.start(id, false));
        world.pass(60 * SECOND);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.start("c", false);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.PAUSE);
        world.pass(9 * SECOND);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.PAUSE);
        world.pass(2 * SECOND);
        assertElected(world, "a", "b", "c");
        assertThat(leaders(world, "a")).containsExactly("a", "b", "c");
    }

    @Test
    void s7_whoComesLateHearsWhoLeads() {
        ElectionWorld world = new ElectionWorld(FIVE);
        List.of("a", "b", "c").forEach(id -> world.start(id, false));
        world.pass(11 * SECOND);
        world.start("e", false);
        assertElected(world, "a", "b", "c", "e");
        assertThat(leaders(world, "e")).containsExactly("a", "b", "c");
    }

    @Test
    void s14_whoIsOffLeadsOnlyIfNobodyElseIsThere() {
        Map<String, Integer> off = Map.of("a", 15, "b", 15, "c", 15);
        assertThat(leaders(withPriorities(off, FIVE), "a")).contains("d", "e").hasSize(3);
        assertThat(leaders(withPriorities(Map.of("a", 15), "a", "b", "c", "d"), "a"))
                .containsExactly("b", "c", "d");
        assertThat(leaders(withPriorities(off, "a", "b", "c"), "a")).containsExactly("a", "b", "c");
    }

    @Test
    void ofThreeMembersAllLeadEvenThoseThatAreStillToCome() {
        ElectionWorld world = new ElectionWorld("a", "b", "c");
        List.of("a", "b").forEach(id -> world.start(id, false));
        world.pass(11 * SECOND);
        assertElected(world, "a", "b");
        assertThat(leaders(world, "a")).containsExactly("a", "b", "c");
        View view = world.view("a");
        world.start("c", false);
        world.pass(11 * SECOND);
        assertElected(world, "a", "b", "c");
        assertThat(world.view("c")).isEqualTo(view);
    }

    @Test
    void s22_survivorsStayLeaders() {
        ElectionWorld world = withPriorities(Map.of("a", 1, "b", 2, "c", 3, "d", 4), FIVE);
        View first = world.view("a");
        world.end("b");
        world.pass(10 * SECOND);
        assertElected(world, "a", "c", "d", "e");
        assertThat(leaders(world, "a")).containsExactly("a", "c", "d");
        View second = world.view("a");
        assertThat(second.since("a")).isEqualTo(first.since("a"));
        assertThat(second.since("c")).isEqualTo(first.since("c"));
        assertThat(second.since("d")).isEqualTo(second.id());
        world.start("b", false); // although its priority is the smaller one
        world.pass(10 * SECOND);
        assertElected(world, FIVE);
        assertThat(world.view("b")).isEqualTo(second);
    }

    @Test
    void s23_staleLeadersAreIgnored() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        View first = world.view("a");
        String lost = first.leaders().get(0);
        world.end(lost);
        world.pass(10 * SECOND);
        String other = lost.equals("a") ? "b" : "a";
        View second = world.view(other);
        assertThat(second.id()).isGreaterThan(first.id());
        String to = other.equals("d") ? "e" : "d".equals(lost) ? "e" : "d";
        world.say(other, to, new ElectionMessage.Leaders(KEY, first, 0, 0, false));
        assertThat(world.view(to)).isEqualTo(second);
    }

    /** Of a cluster with one leader, what its user has heard of the latest view. */
    private static ElectionCall.Elected elected(ElectionWorld world, String id) {
        ElectionCall.Elected last = null;
        for (ElectionCall told : node(world, id).told) {
            last = told instanceof ElectionCall.Elected elected ? elected : last;
        }
        return Objects.requireNonNull(last);
    }

    @Test
    void aLeaderThatGivesItsSeatAwayIsNotWaitedFor() {
        ElectionWorld world = new ElectionWorld(id -> new Election(ONE_LEADER), "a", "b", "c").start();
        world.pass(SECOND);
        String former = world.view("a").leaders().get(0);
        world.call(former, new ElectionCall.Settled(true));
        world.call(former, new ElectionCall.HandOver());
        assertElected(world, "a", "b", "c");
        String next = world.view("a").leaders().get(0);
        assertThat(next).isNotEqualTo(former);
        assertThat(elected(world, next).formerUntil())
                .isEqualTo(node(world, next).now());
        assertThat(world.leased(next)).isTrue();
        // A leader that is lost, for comparison.
        world.end(next);
        world.pass(10 * SECOND);
        String last = world.view(former).leaders().get(0);
        assertThat(elected(world, last).formerUntil())
                .isGreaterThan(elected(world, next).formerUntil() + LEASE);
    }

    @Test
    void aLeaderKeepsItsSeatWhereNobodyCanTakeIt() {
        ElectionWorld world = new ElectionWorld(id -> new Election(ONE_LEADER), "a", "b", "c").start();
        world.pass(SECOND);
        View view = world.view("a");
        String leader = view.leaders().get(0);
        world.call(leader, new ElectionCall.HandOver()); // its user has not said that this may be
        assertThat(world.view(leader)).isEqualTo(view);
        world.call(leader, new ElectionCall.Settled(true));
        world.cut(List.of(leader), others(leader));
        world.call(leader, new ElectionCall.HandOver());
        assertThat(world.view(leader)).isEqualTo(view);
        assertThat(node(world, leader).notices).contains(new SeatKept(), new SeatKept());
    }

    @Test
    void aLeaderKeepsItsSeatWhereTheOthersAreNoMajorityWithoutIt() {
        ElectionWorld world = new ElectionWorld(id -> new Election(ONE_LEADER), "a", "b", "c").start();
        world.pass(SECOND);
        View view = world.view("a");
        String leader = view.leaders().get(0);
        world.call(leader, new ElectionCall.Settled(true));
        world.end(others(leader).get(0));
        world.pass(SECOND);
        world.call(leader, new ElectionCall.HandOver());
        assertThat(world.view(leader)).isEqualTo(view);
        assertThat(node(world, leader).notices).contains(new SeatKept());
    }

    @Test
    void aMemberThatEndsWithAllOthersDoesNotWaitForTheirVotes() {
        ElectionWorld world = new ElectionWorld(id -> new Election(ONE_LEADER), "a", "b", "c").start();
        world.pass(SECOND);
        String leader = world.view("a").leaders().get(0);
        world.call(leader, new ElectionCall.Settled(true));
        others(leader).forEach(world::hold);
        world.call(leader, new ElectionCall.HandOver());
        assertThat(node(world, leader).notices).doesNotContain(new SeatKept());
        others(leader).forEach(world::end);
        world.pass(SECOND / 2);
        assertThat(node(world, leader).notices).contains(new SeatKept());
    }

    /** One that has voted for another view without result, and one that wants to replace a leader alone. */
    @Test
    void aMemberThatNeedsAnElectionDoesNotWaitForOneThatNeedsItsAgreement() {
        ElectionWorld world = new ElectionWorld(id -> new Election(ONE_LEADER), "a", "b", "c", "d").start();
        world.pass(SECOND);
        ViewId view = world.view("c").id();
        ViewId lost = new ViewId(9, "d", 1);
        List<String> all = List.of("a", "b", "c", "d");
        Identifier ofB = new Identifier(Identifier.USUAL, 1, "b");
        Identifier ofD = new Identifier(Identifier.USUAL, 1, "d");
        world.say("d", "c", new ElectionMessage.ElectionDate(KEY, lost, 0, ofD, view, lost, false, all));
        assertThat(node(world, "c").election.promised()).isEqualTo(lost);
        for (int i = 0; i < 100; i++) {
            world.pass(SECOND / 10);
            world.say(
                    "b",
                    "c",
                    new ElectionMessage.ElectionDate(KEY, ViewId.NONE, SECOND / 20, ofB, view, view, true, all));
        }
        assertThat(world.view("c").id()).isGreaterThan(lost);
        assertElected(world, "a", "b", "c", "d");
    }

    /** Of several shards: the first one prefers the first member. */
    private static ElectionWorld ranked(Map<String, Integer> priorities, String... ids) {
        ElectionWorld world = new ElectionWorld(
                id -> new Election(new ElectionSettings(
                        KEY, List.of(new Key(200, "user")), 1, priorities.getOrDefault(id, Identifier.USUAL))),
                ids);
        world.shards = 6;
        world.start();
        world.pass(SECOND);
        return world;
    }

    /** Member a, which is to lead, has ended, and b leads and may give its seat away. */
    private static ElectionWorld withoutItsFirst(String... ids) {
        ElectionWorld world = ranked(Map.of(), ids);
        assertThat(leaders(world, "c")).containsExactly("a");
        world.end("a");
        world.pass(10 * SECOND);
        assertThat(leaders(world, "c")).containsExactly("b");
        world.call("b", new ElectionCall.Settled(true));
        return world;
    }

    @Test
    void aSeatComesBackToTheMemberThatIsToLead() {
        ElectionWorld world = withoutItsFirst("a", "b", "c");
        world.start("a", false);
        world.pass(9 * SECOND);
        assertThat(leaders(world, "c")).as("it may be gone again soon").containsExactly("b");
        world.pass(2 * SECOND);
        assertElected(world, "a", "b", "c");
        assertThat(leaders(world, "c")).containsExactly("a");
        assertThat(elected(world, "a").formerUntil())
                .as("nobody was waited for")
                .isLessThanOrEqualTo(node(world, "a").now());
        ViewId view = world.view("a").id();
        world.call("a", new ElectionCall.Settled(true));
        world.pass(60 * SECOND);
        assertThat(world.view("a").id()).as("and stays").isEqualTo(view);
    }

    @Test
    void aSeatDoesNotMoveToAMemberThatCouldNotServe() {
        ElectionWorld world = withoutItsFirst("a", "b", "c");
        world.start("a", false);
        world.node("a").quarantined = true; // by leases of its former life
        world.pass(30 * SECOND);
        assertThat(leaders(world, "c")).containsExactly("b");
        world.open("a");
        world.pass(60 * SECOND);
        assertThat(leaders(world, "c")).containsExactly("a");
    }

    @Test
    void aSeatDoesNotMoveToAMemberThatHearsTooFew() {
        ElectionWorld world = withoutItsFirst("a", "b", "c", "d");
        world.link(false, "ac", "ad");
        world.start("a", false);
        world.pass(30 * SECOND);
        assertThat(leaders(world, "c")).containsExactly("b");
    }

    @Test
    void aSeatDoesNotMoveToAMemberThatIsSilentNowAndThen() {
        ElectionWorld world = withoutItsFirst("a", "b", "c");
        world.start("a", false);
        for (int i = 0; i < 5; i++) {
            world.pass(8 * SECOND);
            node(world, "b").election.called(new PeerView.PeerSuspected("a"), node(world, "b"));
            world.pass(SECOND);
            node(world, "b").election.called(new PeerView.PeerTrusted("a"), node(world, "b"));
        }
        assertThat(leaders(world, "c")).containsExactly("b");
        world.pass(11 * SECOND);
        assertThat(leaders(world, "c")).containsExactly("a");
    }

    @Test
    void aSeatDoesNotMoveToAMemberOfALowerPriority() {
        ElectionWorld world = ranked(Map.of("b", 1), "a", "b", "c");
        assertThat(leaders(world, "a")).containsExactly("b");
        world.call("b", new ElectionCall.Settled(true));
        world.pass(15 * SECOND);
        View view = world.view("a");
        assertThat(view.leaders()).containsExactly("b");
        world.pass(45 * SECOND);
        assertThat(world.view("a")).as("asked once a minute").isEqualTo(view);
    }

    private static List<String> others(String member) {
        List<String> others = new ArrayList<>(List.of("a", "b", "c"));
        others.remove(member);
        return others;
    }

    @Test
    void s24_ofTwoElectorsOneSetOfLeadersWins() {
        ElectionWorld world = new ElectionWorld(FIVE);
        List.of("a", "b", "c", "d", "e").forEach(id -> {
            world.start(id, false);
            if (id.equals("b")) {
                world.cut(List.of("a", "b"), List.of("d", "e")); // c hears both sides
            }
        });
        for (int i = 0; i < 400; i++) {
            world.pass(SECOND / 10);
            assertThat(world.leasedViews()).hasSizeLessThanOrEqualTo(1);
        }
        assertThat(world.leasedViews()).hasSize(1);
        world.heal();
        world.pass(30 * SECOND);
        assertElected(world, FIVE);
    }

    @Test
    void aMinorityElectsNobodyAndCountsNothingAfterALease() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        View view = world.view("a");
        world.cut(List.of("a", "b"), List.of("c", "d", "e"));
        assertThat(world.leased("a")).isTrue();
        world.pass(LEASE + 1);
        assertThat(world.leased("a")).isFalse();
        world.pass(60 * SECOND);
        assertThat(world.view("a")).isEqualTo(view);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.heal();
        world.pass(10 * SECOND);
        assertElected(world, FIVE);
    }

    @Test
    void whoAloneDoesNotHearALeaderReplacesNobody() {
        ElectionWorld world = withPriorities(Map.of("a", 1, "b", 2, "c", 3), FIVE);
        View view = world.view("a");
        world.cut(List.of("e"), List.of("b"));
        world.pass(60 * SECOND);
        assertElected(world, "a", "b", "c", "d");
        assertThat(world.view("a")).isEqualTo(view);
        assertThat(world.leased("e")).isTrue();
    }

    private static ElectionWorld withOneLeader(String... ids) {
        Map<String, Integer> first = Map.of("a", 1);
        return new ElectionWorld(
                        id -> new Election(new ElectionSettings(
                                KEY,
                                List.of(new Key(200, "user")),
                                1,
                                first.getOrDefault(id, Identifier.USUAL),
                                LEASE,
                                0,
                                Bounds.NUMBERS)),
                        ids)
                .start();
    }

    /** A member that has missed it alone wanted an election then, and wants none now. */
    @Test
    void aWishOfLongAgoReplacesNoLeader() {
        ElectionWorld world = withOneLeader("a", "b", "c");
        View view = world.view("a");
        assertThat(view.leaders()).containsExactly("a");
        for (String alone : List.of("b", "c", "b", "c")) {
            world.cut(List.of("a"), List.of(alone));
            world.pass(20 * SECOND);
            world.heal();
            world.pass(60 * SECOND);
            assertElected(world, "a", "b", "c");
            assertThat(world.view(alone)).as("only " + alone + " has missed it").isEqualTo(view);
        }
    }

    /** Of those that miss it first one puts off the dates of the others, again and again. */
    @Test
    void aLeaderIsReplacedWhenAMajorityMissesItOneAfterTheOther() {
        for (List<String> order : List.of(
                List.of("b", "c", "d"),
                List.of("c", "d", "e"),
                List.of("d", "e", "b"),
                List.of("e", "b", "c"),
                List.of("b", "d", "e"),
                List.of("c", "e", "b"),
                List.of("d", "b", "c"),
                List.of("e", "c", "d"))) {
            ElectionWorld world = withOneLeader(FIVE);
            View view = world.view("a");
            for (String missing : order) {
                assertThat(world.view(missing))
                        .as("before " + missing + " of " + order)
                        .isEqualTo(view);
                world.cut(List.of("a"), List.of(missing));
                world.pass(10 * SECOND);
            }
            assertThat(world.view("b").leaders()).as("after " + order).doesNotContain("a");
        }
    }

    /** It has heard alone that b was elected, and is not heard itself for a moment when another view is. */
    @Test
    void aLeaderMayGetTheVerySeatAgainThatItHasLost() {
        ElectionWorld world = withOneLeader(FIVE);
        View view = world.view("a");
        ViewId lost = new ViewId(9, "b", 1);
        for (String voter : List.of("c", "d", "e")) {
            ElectionMessage.ElectionDate asks = new ElectionMessage.ElectionDate(
                    KEY, lost, 0, new Identifier(1, 1, "b"), view.id(), lost, false, view.members());
            world.say("b", voter, asks);
        }
        world.hold("a");
        View ofB = new View(lost, List.of(new View.Seat("b", lost)), false, view.members());
        world.say("b", "a", new ElectionMessage.Leaders(KEY, ofB, 0, 0, false));
        world.end("b");
        world.pass(20 * SECOND);
        assertThat(node(world, "a").told)
                .filteredOn(ElectionCall.Elected.class::isInstance)
                .extracting(told -> ((ElectionCall.Elected) told).view().since("a"))
                .containsExactly(view.id(), ViewId.NONE, view.id());
    }

    @Test
    void aMemberThatKeepsItsFileKnowsItsViewAtOnce() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        View view = world.view("a");
        world.end("a");
        world.start("a", false);
        assertThat(world.view("a")).isEqualTo(view);
        assertThat(node(world, "a").told.get(0)).isInstanceOfSatisfying(ElectionCall.Elected.class, elected -> {
            assertThat(elected.view()).isEqualTo(view);
            assertThat(elected.restored()).isTrue();
        });
        assertElected(world, FIVE);
    }

    @Test
    void allMembersThatLoseTheirFilesBeginAnewWhenAllHaveWaited() {
        ElectionWorld world = new ElectionWorld("a", "b", "c").start();
        List.of("a", "b", "c").forEach(world::end);
        List.of("a", "b").forEach(id -> world.start(id, true));
        List.of("a", "b").forEach(world::open);
        world.pass(60 * SECOND);
        assertThat(node(world, "a").election.phase()).isEqualTo(Election.Phase.BOOTING);
        world.start("c", true);
        world.open("c");
        world.pass(30 * SECOND);
        assertElected(world, "a", "b", "c");
    }

    // Rules

    /** Does without a rule. */
    private static final class Unsafe extends Election {
        private final boolean keeps;
        private final boolean learns;

        Unsafe(boolean keeps, boolean learns) {
            super(ElectionWorld.settings(Identifier.USUAL));
            this.keeps = keeps;
            this.learns = learns;
        }

        @Override
        boolean keepsPromises() {
            return keeps;
        }

        @Override
        boolean learns() {
            return learns;
        }
    }

    /** Whether d lets itself be counted by the view of a after it has voted for another one. */
    private static boolean confirmsAfterItsVote(boolean keeps) {
        ElectionWorld world = new ElectionWorld(id -> new Unsafe(keeps, true), FIVE).start();
        List.of("a", "b", "c").forEach(world::hold);
        world.cut(List.of("a"), List.of("b", "c")); // a hears d and e
        Identifier identifier = new Identifier(1, 1, "e");
        ViewId round = new ViewId(9, "e", 1);
        for (String voter : List.of("d", "e")) {
            String from = voter.equals("e") ? "d" : "e";
            world.say(
                    from,
                    voter,
                    new ElectionMessage.ElectionDate(
                            KEY,
                            round,
                            0,
                            identifier,
                            world.view(voter).id(),
                            round,
                            false,
                            world.view(voter).members()));
        }
        world.release("a");
        world.pass(LEASE - 1);
        world.pass(LEASE / 2);
        return world.leased("a");
    }

    @Test
    void v1_whoHasVotedConfirmsNoEarlierView() {
        assertThat(confirmsAfterItsVote(true)).isFalse();
        assertThat(confirmsAfterItsVote(false)).isTrue();
    }

    /**
     * That others knew no view yet confirms none: they may elect another first one, whose leaders need wait for nobody.
     */
    @Test
    void v2_whoeverKnewNoViewHasConfirmedNone() {
        ElectionWorld world = new ElectionWorld("a", "b", "c");
        List.of("a", "b").forEach(id -> world.start(id, false)); // they have asked each other
        world.hold("c");
        world.start("c", false);
        List.of("a", "b").forEach(world::hold);
        world.release("c");
        world.release("a"); // a asks for votes
        world.hold("a");
        world.release("b");
        assertThat(world.view("a").seats()).as("it has all votes").hasSize(3);
        assertThat(world.leased("a")).as("nobody has heard of it").isFalse();
        world.release("a");
        assertElected(world, "a", "b", "c");
    }

    /** Two views that are counted by at one time, since c forgot the first one and voted for the second one. */
    private static int viewsAfterALoss(boolean learns) {
        ElectionWorld world = new ElectionWorld(id -> new Unsafe(true, learns), FIVE);
        world.cut(List.of("a", "b"), List.of("d", "e"));
        List.of("a", "b", "c").forEach(id -> world.start(id, false));
        world.cut(List.of("a", "b"), List.of("d", "e"));
        world.pass(11 * SECOND);
        assertElected(world, "a", "b", "c");
        world.end("c");
        List.of("d", "e").forEach(id -> world.start(id, false));
        world.cut(List.of("a", "b"), List.of("c", "d", "e"));
        world.start("c", true);
        int most = world.leasedViews().size();
        for (int i = 0; i < 150; i++) {
            if (i == 12) {
                world.open("c");
            }
            world.pass(SECOND / 10);
            most = Math.max(most, world.view("d").id().equals(ViewId.NONE) ? 1 : 2);
        }
        return most;
    }

    @Test
    void v5_whoHasLostItsFileLearnsBeforeItVotes() {
        assertThat(viewsAfterALoss(true)).isEqualTo(1);
        assertThat(viewsAfterALoss(false)).isEqualTo(2);
    }

    @Test
    void aMemberWithoutItsFileLearnsFromAMajorityOfThoseThatHaveTheirs() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        View view = world.view("b");
        world.end("a");
        world.start("a", true);
        world.pass(LEASE);
        assertThat(world.view("a")).isEqualTo(View.NONE);
        world.open("a");
        world.pass(6 * SECOND);
        assertThat(world.view("a").id()).isGreaterThanOrEqualTo(view.id());
        assertElected(world, FIVE);
    }

    /** It has waited in the life that found no record, and ended before it could learn. */
    @Test
    void v5_whatIsForgottenStaysForgottenInLaterLives() {
        ElectionWorld world = new ElectionWorld("a", "b", "c").start();
        View view = world.view("a");
        world.end("c");
        world.link(false, "ac");
        world.start("c", true);
        world.open("c");
        world.pass(10 * SECOND);
        for (int life = 0; life < 3; life++) {
            world.end("c");
            world.start("c", false);
            world.pass(10 * SECOND);
            assertThat(node(world, "c").election.phase()).isEqualTo(Election.Phase.BOOTING);
            assertThat(world.view("c")).as("b alone does not know all").isEqualTo(View.NONE);
            assertThat(node(world, "c").notices).endsWith(new Forgotten(List.of("a")));
            assertThat(node(world, "c").record)
                    .as("a record says that it has not forgotten")
                    .isNull();
        }
        world.link(true, "ac");
        assertElected(world, "a", "b", "c");
        assertThat(world.view("c").since("a")).isEqualTo(view.since("a"));
        assertThat(node(world, "c").told.get(0))
                .as("it cannot know what it has said in its seat")
                .isInstanceOfSatisfying(ElectionCall.Elected.class, elected -> {
                    assertThat(elected.view()).isEqualTo(world.view("c"));
                    assertThat(elected.restored()).isTrue();
                });
    }

    /** c has recorded what a asks for, and loses its file; it learns from others, who have not. */
    @Test
    void v6_whatAMemberHasRecordedCountsForNoLongerThanItCouldHaveForgottenIt() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        world.link(false, "ab", "ad", "ae");
        world.reserve("a", 1_000);
        world.end("c");
        world.link(false, "ac", "bd", "be", "de");
        world.start("c", true);
        world.pass(LEASE);
        world.open("c");
        world.pass(6 * SECOND);
        assertThat(node(world, "c").record).as("it has learned").isNotNull();
        world.link(true, "ad");
        ElectionCall recorded = new ElectionCall.Recorded(1_000);
        assertThat(node(world, "a").told).as("a and d have it, and c had it").doesNotContain(recorded);
        world.link(true, "ab");
        assertThat(node(world, "a").told).contains(recorded);
    }

    /** c is in no list that it knows at first, so it asks the others long before it has waited. */
    @Test
    void v6_whatOthersHaveSaidBeforeAMemberHasWaitedDoesNotCount() {
        ElectionWorld world = new ElectionWorld(FIVE).start();
        world.link(false, "ab", "ad", "ae");
        world.end("c");
        world.start("c", true, List.of("b", "d", "e"));
        world.pass(6 * SECOND);
        world.link(false, "cd", "bd", "be", "de");
        world.link(true, "ab", "ad");
        world.reserve("a", 1_000);
        assertThat(node(world, "a").told)
                .as("a, b and d have it: c has not said so")
                .contains(new ElectionCall.Recorded(1_000));
        world.link(false, "ab", "cb");
        world.pass(LEASE);
        world.open("c");
        world.pass(6 * SECOND);
        assertThat(node(world, "c").record)
                .as("b and d have recorded more since they answered, and e alone is heard")
                .isNull();
        world.heal();
        world.pass(SECOND);
        assertThat(node(world, "c").record).isNotNull();
        assertThat(node(world, "c").record.recorded()).isEqualTo(1_000);
    }
}
