// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Role;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which member and which cell answers, and what it tells of its cluster. */
class MembershipTest {
    private static final List<String> MEMBERS = List.of("a:1", "b:1", "c:1");
    private static final Membership SECOND_OF_B = new Membership("b:1", MEMBERS, 1, 4, true, 0, 1000);

    private static SessionSettings settings(long members) {
        return SessionSettings.of("c", 11, members, Numbered.ID, World.MAX_TTL, Authenticator.none())
                .saying("maxTtl=60s", "list " + members);
    }

    private static World world(Membership membership, long membersOfMember, long membersOfCaller, SessionTarget aim) {
        World world = new World(settings(membersOfMember), settings(membersOfCaller), membership, aim);
        world.client.work(turn -> {});
        world.settle();
        return world;
    }

    private static World asked(SessionTarget aim) {
        World world = new World(settings(22), settings(22), SECOND_OF_B, aim);
        world.client.work(turn -> turn.client().await(Numbered.KEY, World.MAX_TTL));
        world.settle();
        return world;
    }

    @Test
    void aWelcomeTellsWhoTheMembersAre() {
        World world = asked(SessionTarget.at("b:1", 1));
        assertThat(world.clientSide().connected()).isTrue();
        WelcomeInfo welcome = world.clientSide().lastWelcome();
        assertThat(welcome.node()).isEqualTo("b:1");
        assertThat(welcome.members()).isEqualTo(MEMBERS);
        assertThat(welcome.shards()).isEqualTo(4);
        assertThat(welcome.fresh()).as("nothing is waited for").isFalse();
        assertThat(welcome.incarnation()).isEqualTo(World.MEMBER);
        assertThat(world.clientSide().trouble()).isNull();
    }

    @Test
    void anotherMemberAtThatAddressIsNotTalkedTo() {
        World world = asked(SessionTarget.at("a:1", 1));
        assertThat(world.clientSide().exists()).isFalse();
        assertThat(world.memberSide().size()).isZero();
        assertThat(world.clientSide().trouble().why()).contains("node is b:1 there and a:1 here");
        assertThat(world.clientSide().trouble().final_())
                .as("the list may be changing")
                .isFalse();
    }

    @Test
    void anotherCellIsNotTalkedTo() {
        World world = asked(SessionTarget.at("b:1", 2));
        assertThat(world.clientSide().exists()).isFalse();
        assertThat(world.member.lastSent(Refuse.class)).isEqualTo(new Refuse(RefuseCode.SHARD, "shard", "1", "2"));
    }

    @Test
    void aClientNeedNotKnowTheList() {
        Membership first = new Membership("b:1", MEMBERS, 0, 1, false, 0, 1000);
        World world = world(first, 22, 33, SessionTarget.ANY_MEMBER);
        assertThat(world.clientSide().lastWelcome().node()).isEqualTo("b:1");
    }

    @Test
    void whoLooksForTheMembersStaysOnlyUntilItIsWelcomed() {
        Membership first = new Membership("b:1", MEMBERS, 0, 1, false, 0, 1000);
        World world = world(first, 22, 0, SessionTarget.ANY_MEMBER);
        assertThat(world.clientSide().connected()).isTrue();
        world.reachable = false;
        world.cut(world.open.first());
        world.settle();
        world.pass(3 * World.MAX_TTL);
        assertThat(world.clientSide().exists()).isFalse();
        int dials = world.dials;
        world.pass(3 * World.MAX_TTL);
        assertThat(world.dials).isEqualTo(dials);
    }

    @Test
    void membersOfOneListKeepInTouch() {
        Membership first = new Membership("b:1", MEMBERS, 0, 1, false, 0, 1000);
        World world = world(first, 22, 22, SessionTarget.peer("a:1", "b:1"));
        assertThat(world.clientSide().connected()).isTrue();
        world.pass(10 * World.MAX_TTL);
        assertThat(world.clientSide().connected()).isTrue();
        world.cut(world.open.first());
        world.settle();
        world.pass(World.MAX_TTL);
        assertThat(world.clientSide().connected()).isTrue();
    }

    @Test
    void aMemberNoticesWithinSecondsThatAnotherIsSilent() {
        Membership first = new Membership("b:1", MEMBERS, 0, 1, false, 0, 1000);
        World world = world(first, 22, 22, SessionTarget.peer("a:1", "b:1"));
        world.deaf = true;
        world.pass(3_000 * World.MS);
        assertThat(world.clientSide().connected()).isFalse();
    }

    @Test
    void membersOfDifferentListsRefuseEachOtherAndShowBoth() {
        Membership first = new Membership("b:1", MEMBERS, 0, 1, false, 0, 1000);
        World world = world(first, 22, 33, SessionTarget.peer("a:1", "b:1"));
        assertThat(world.clientSide().exists()).isFalse();
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.MEMBERS);
        assertThat(world.clientSide().trouble().why()).contains("members is list 22 there and list 33 here");
    }

    @Test
    void theOnlyMemberHasNoPeers() {
        World world = world(Membership.single("b:1"), 22, 22, SessionTarget.peer("a:1", "b:1"));
        assertThat(world.member.lastSent(Refuse.class))
                .isEqualTo(new Refuse(RefuseCode.ROLE, "role", Role.CLIENT.name(), Role.MEMBER.name()));
    }

    @Test
    void aCellIsOneOfItsMembersShards() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Membership("a:1", MEMBERS, 4, 4, false, 0, 1000));
        assertThatIllegalArgumentException().isThrownBy(() -> new Membership("a:1", List.of(), 0, 1, false, 0, 1000));
    }
}
