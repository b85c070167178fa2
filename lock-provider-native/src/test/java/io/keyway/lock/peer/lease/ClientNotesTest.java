// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.lease.NotesMessage.Note;
import io.keyway.lock.peer.lease.NotesMessage.Taken;
import io.keyway.lock.peer.lease.NotesMessage.Write;
import io.keyway.lock.peer.lease.NotesMessage.Written;
import io.keyway.lock.peer.session.Incarnation;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A leader, the members that it writes to, and the leader after it. */
class ClientNotesTest {
    private static final ViewId FIRST = new ViewId(1, "a", 1);
    private static final ViewId SECOND = new ViewId(2, "b", 1);
    private static final List<String> MEMBERS = List.of("a", "b", "c");

    private final ClientNotes a = new ClientNotes();
    private final ClientNotes b = new ClientNotes();
    private final ClientNotes c = new ClientNotes();

    private static Incarnation client(long number) {
        return new Incarnation(number, number);
    }

    private static ClientNotes first(ClientNotes leader) {
        leader.areLost();
        leader.areAll();
        return leader;
    }

    /** That member notes all that the leader has not written to it. */
    private static void write(ClientNotes leader, ViewId seat, String member, ClientNotes to) {
        for (Write page : leader.unsaid(member, seat)) {
            Written answer = to.heard(page);
            if (answer != null) {
                leader.confirmed(member, answer);
            }
        }
    }

    private static boolean isNoted(ClientNotes leader, Incarnation client, long ttl, String self) {
        leader.counts();
        return leader.isNoted(client, ttl, leader.majority(MEMBERS, self));
    }

    private static void take(ClientNotes leader, ViewId seat, String member, ClientNotes from) {
        for (Taken page : from.answer(seat)) {
            leader.took(member, page);
        }
    }

    @Test
    void aClientIsNotedWhenAMajorityHasConfirmed() {
        first(a).note(client(1), 10);
        assertThat(isNoted(a, client(1), 10, "a")).as("by one of three").isFalse();
        write(a, FIRST, "b", b);
        assertThat(isNoted(a, client(1), 10, "a")).isTrue();
        assertThat(isNoted(a, client(1), 11, "a")).as("with a longer ttl").isFalse();
        assertThat(isNoted(a, client(2), 1, "a")).as("another client").isFalse();

        a.note(client(1), 20);
        assertThat(isNoted(a, client(1), 20, "a")).isFalse();
        write(a, FIRST, "c", c);
        assertThat(isNoted(a, client(1), 20, "a")).isTrue();
    }

    @Test
    void aLeaderThatDoesNotCountItselfNeedsTheOthers() {
        first(a).note(client(1), 10);
        write(a, FIRST, "b", b);
        assertThat(a.isNoted(client(1), 10, a.majority(MEMBERS, "a"))).isFalse();
        write(a, FIRST, "c", c);
        assertThat(a.isNoted(client(1), 10, a.majority(MEMBERS, "a"))).isTrue();
    }

    @Test
    void theNextLeaderHasTheNotesOfAMajority() {
        first(a);
        for (int i = 1; i <= 1000; i++) {
            a.note(client(i), i);
        }
        write(a, FIRST, "b", b);
        a.note(client(1), 7);
        a.set(client(2), 0);
        write(a, FIRST, "c", c);

        b.takes("b");
        assertThat(b.areTaken(MEMBERS, true)).isFalse();
        take(b, SECOND, "c", c);
        assertThat(b.areTaken(MEMBERS, true)).isTrue();
        Map<Incarnation, Long> all = b.areAll();
        assertThat(all).hasSize(1000).containsEntry(client(1), 7L).containsEntry(client(1000), 1000L);
    }

    @Test
    void aMemberThatHasStartedAgainDoesNotCountBeforeItHasAllNotes() {
        first(a).note(client(1), 10);
        write(a, FIRST, "b", b);
        write(a, FIRST, "c", c);

        ClientNotes again = new ClientNotes();
        c.takes("c");
        take(c, SECOND, "b", again);
        assertThat(c.areTaken(MEMBERS, true)).isFalse();
        assertThat(c.areTaken(MEMBERS, false)).as("a variant").isTrue();
        take(c, SECOND, "a", a);
        assertThat(c.areTaken(MEMBERS, true)).isTrue();
        assertThat(c.areAll()).containsOnlyKeys(client(1));

        write(c, SECOND, "b", again);
        assertThat(again.answer(SECOND))
                .containsExactly(new Taken(SECOND, List.of(new Note(client(1), 10)), true, true));
    }

    /** Until all pages are there, it keeps what it had. */
    @Test
    void aMemberThatIsToldAllNotesHasThemWithTheLastPage() {
        first(a).note(client(1), 10);
        write(a, FIRST, "b", b);
        c.areLost();
        c.areAll();
        for (int i = 2; i <= 1000; i++) {
            c.note(client(i), i);
        }
        List<Write> pages = c.unsaid("b", SECOND);
        assertThat(pages).hasSizeGreaterThan(2);
        for (Write page : pages.subList(0, pages.size() - 1)) {
            assertThat(b.heard(page)).isNull();
        }
        assertThat(b.answer(FIRST)).containsExactly(new Taken(FIRST, List.of(new Note(client(1), 10)), true, true));
        assertThat(b.heard(pages.get(pages.size() - 1))).isNotNull();
        assertThat(b.answer(SECOND).stream()
                        .mapToInt(page -> page.notes().size())
                        .sum())
                .isEqualTo(999);
        assertThat(b.heard(pages.get(1))).as("one that is out of place").isNull();
    }

    /** A leader that has lost its own notes takes nothing away from those that others have. */
    @Test
    void aLeaderThatDoesNotKnowAllAddsToWhatMembersKnow() {
        first(a).note(client(1), 10);
        write(a, FIRST, "b", b);
        ClientNotes again = new ClientNotes();
        again.areLost();
        again.note(client(2), 20);
        write(again, FIRST, "b", b);
        assertThat(b.answer(SECOND))
                .containsExactly(
                        new Taken(SECOND, List.of(new Note(client(1), 10), new Note(client(2), 20)), true, true));

        again.areAll();
        write(again, FIRST, "b", b);
        assertThat(b.answer(SECOND)).containsExactly(new Taken(SECOND, List.of(new Note(client(2), 20)), true, true));
    }

    @Test
    void whoHoldsNothingIsForgottenByAll() {
        first(a).note(client(1), 10);
        write(a, FIRST, "b", b);
        write(a, FIRST, "c", c);
        a.set(client(1), 0);
        assertThat(isNoted(a, client(1), 1, "a")).isFalse();
        write(a, FIRST, "b", b);
        write(a, FIRST, "c", c);
        a.counts();
        a.forget(MEMBERS, "a");
        for (ClientNotes each : List.of(a, b, c)) {
            assertThat(each.answer(SECOND)).containsExactly(new Taken(SECOND, List.of(), true, true));
        }
        a.note(client(1), 5);
        write(a, FIRST, "b", b);
        assertThat(isNoted(a, client(1), 5, "a")).isTrue();
    }

    /** It did not follow when the leader wrote, and does since. */
    @Test
    void aMemberThatConfirmsNothingIsToldAgain() {
        first(a).note(client(1), 10);
        assertThat(a.unsaid("b", FIRST)).hasSize(1);
        a.lookAfter("b");
        assertThat(a.unsaid("b", FIRST)).isEmpty();
        a.lookAfter("b");
        write(a, FIRST, "b", b);
        assertThat(a.areWith(List.of("b"))).isTrue();
        a.lookAfter("b");
        a.lookAfter("b");
        assertThat(a.areWith(List.of("b"))).isTrue();
    }
}
