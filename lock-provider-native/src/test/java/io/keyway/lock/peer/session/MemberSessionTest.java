// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a member whose machines talk to other members sends an echo of its own. */
class MemberSessionTest {
    private static final long WAIT = 1000;

    private record Told(Key key, boolean isAnswered) implements Message {}

    private static final Key KEY = new Key(1, "lock");
    private static final Message REQUEST = new Told(KEY, true);
    private static final Message RELEASE = new Told(KEY, false);

    private static MemberSession session(String from) {
        return new MemberSession(new Peer(1), from, new Incarnation(1, 1), 0, 0, 0);
    }

    @Test
    void theEchoToARequestThatIsAnsweredMayWait() {
        MemberSession session = session("");
        session.stampedWith(List.of(REQUEST), 1, WAIT, 5);
        assertThat(session.owesNow(5)).isFalse();
        assertThat(session.owesNow(5 + WAIT)).isTrue();
    }

    @Test
    void theEchoToAReleaseIsSentAtOnce() {
        MemberSession session = session("");
        session.stampedWith(List.of(RELEASE), 1, WAIT, 5);
        assertThat(session.owesNow(5)).isTrue();
        session.stampedWith(List.of(REQUEST), 2, WAIT, 5);
        assertThat(session.owesNow(5)).as("a request behind it").isTrue();
    }

    @Test
    void whatIsWaitedForEndsTheWaitOfARequest() {
        MemberSession session = session("");
        session.stampedWith(List.of(REQUEST), 1, WAIT, 5);
        session.stampedWith(List.of(), 2, WAIT, 6);
        assertThat(session.owesNow(6)).as("an empty frame asks for an echo").isTrue();
    }

    @Test
    void aSecondRequestDoesNotPutTheEchoOff() {
        MemberSession session = session("");
        session.stampedWith(List.of(REQUEST), 1, WAIT, 5);
        session.stampedWith(List.of(REQUEST), 2, WAIT, 5 + WAIT / 2);
        assertThat(session.owesNow(5 + WAIT)).isTrue();
    }

    @Test
    void theEchoToAnotherMemberMayWaitWhateverItSays() {
        MemberSession session = session("b:7400");
        session.stampedWith(List.of(RELEASE), 1, WAIT, 5);
        assertThat(session.owesNow(5)).isFalse();
        assertThat(session.owesNow(5 + WAIT)).isTrue();
    }
}
