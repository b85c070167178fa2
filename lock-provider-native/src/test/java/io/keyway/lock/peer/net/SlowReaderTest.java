// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.tck.process.Signals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Clients that do not read what they asked for: the member's cost is bounded, others feel nothing, and nothing is lost.
 */
@Execution(ExecutionMode.CONCURRENT) // each with a member of its own
class SlowReaderTest {
    private static final int LOCKS = 100_000;
    private static final int PAGES = 2_000;
    private static final int BATCH = 100;
    private static final MemberAcceptor.Limits LIMITS = new MemberAcceptor.Limits(8, 8, Duration.ofSeconds(30));
    /** Names so long that the answers fit into no buffer of the system. */
    private static final String LONG = "x".repeat(400);

    private static final long TTL = Duration.ofSeconds(60).toNanos();
    private static final Owner OWNER = new Owner("slow", Map.of());
    private static final Authenticator NONE = Authenticator.none();

    private static LockMessage acquire(String name, long request) {
        return new LockMessage.Acquire(
                LeaseKeys.lock(name), request, LockMode.EXCLUSIVE, 1, 1, TTL, true, false, false, 0, 0, OWNER);
    }

    /** Asks for all but the first of them, and does not mind if that ends early. */
    private static void ask(RawPeer peer, long session, List<Message> requests, long received) {
        for (int done = (int) received; done < requests.size(); done += BATCH) {
            List<Message> batch = requests.subList(done, Math.min(requests.size(), done + BATCH));
            peer.trySend(RawPeer.bytes(new SessionFrame.Data(session, done + 1L, 0, true, done + 1, 0, batch)));
        }
    }

    /** Another client takes a lock and gives it back; returns the token. */
    private static long pair(RawPeer peer, long session, int number) throws Exception {
        long seq = 2L * number + 1;
        peer.send(new SessionFrame.Data(session, seq, 0, true, seq, 0, List.of(acquire("other", number + 1))));
        long token = 0;
        while (token == 0) {
            if (peer.read() instanceof SessionFrame.Data data) {
                for (Message message : data.messages()) {
                    token = message instanceof LockMessage.Granted granted && granted.request() == number + 1
                            ? granted.token()
                            : token;
                }
            }
        }
        Message release = new LockMessage.Release(LeaseKeys.lock("other"), token, token);
        peer.send(new SessionFrame.Data(session, seq + 1, 0, true, seq + 1, 0, List.of(release)));
        return token;
    }

    @Test
    @Tag("soak")
    void aClientThatReadsNoneOf100000GrantsHoldsUpNobodyAndGetsThemLater() throws Exception {
        List<Message> requests = new ArrayList<>();
        for (int i = 1; i <= LOCKS; i++) {
            requests.add(acquire(LONG + i, i));
        }
        try (TcpMember member = new TcpMember(2, Security.insecure(), LIMITS);
                RawPeer slow = member.connect();
                RawPeer other = member.connect()) {
            SessionFrame.Hello hello = member.hello(0);
            long session = session(slow.introduce(hello, NONE));
            long others = member.welcomed(other, 0).session();
            Thread asking = new Thread(() -> ask(slow, session, requests, 0), "slow reader");
            asking.start();
            long token = 0;
            for (int pairs = 0; asking.isAlive() || pairs < 100; pairs++) {
                long next = pair(other, others, pairs);
                assertThat(next).isGreaterThan(token);
                token = next;
            }
            slow.close();
            assertThat(answers(member, hello, session, slow.challenge().member(), requests, LockMessage.Granted.class))
                    .isEqualTo(LOCKS);
        }
    }

    @Test
    void aConnectionThatIsNotReadEndsAndItsSessionDoesNot() throws Exception {
        List<Message> requests = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            requests.add(acquire(LONG + i, i));
        }
        for (int i = 1; i <= PAGES; i++) {
            requests.add(new LockMessage.ListNames(LeaseKeys.DIRECTORY, i, "", "", 256));
        }
        try (TcpMember member = new TcpMember(2, Security.insecure(), LIMITS);
                RawPeer slow = member.connect()) {
            SessionFrame.Hello hello = member.hello(0);
            long session = session(slow.introduce(hello, NONE));
            ask(slow, session, requests, 0);
            Signals.until("the member closes the connection", () -> !member.log.isEmpty());
            assertThat(member.log.peek()).contains("the other side does not read");
            slow.close();
            assertThat(answers(member, hello, session, slow.challenge().member(), requests, LockMessage.Page.class))
                    .isEqualTo(PAGES);
        }
    }

    private static long session(@Nullable SessionFrame answer) {
        if (answer instanceof SessionFrame.Welcome welcome) {
            return welcome.session();
        }
        throw new AssertionError("no welcome but " + answer);
    }

    /**
     * The same client comes again, and now it reads what it asks for, over as many links as that takes; returns how
     * many answers of that kind it gets.
     */
    private static int answers(
            TcpMember member,
            SessionFrame.Hello hello,
            long session,
            Incarnation of,
            List<Message> requests,
            Class<? extends Message> kind)
            throws Exception {
        long received = 0;
        int answers = 0;
        int fruitless = 0;
        int wanted = kind == LockMessage.Page.class ? PAGES : LOCKS;
        for (int attempt = 2; answers < wanted; attempt++) {
            assertThat(fruitless++).as("links in a row that brought nothing").isLessThan(50);
            try (RawPeer peer = member.connect()) {
                SessionFrame.Hello again = TcpMember.again(hello, attempt, new Resume(of, session, received));
                if (!(peer.introduce(again, NONE) instanceof SessionFrame.Welcome welcome)) {
                    continue; // ended again before it was read
                }
                assertThat(welcome.session()).isEqualTo(session);
                Thread asking = new Thread(() -> ask(peer, session, requests, welcome.received()), "reader");
                asking.start();
                SessionFrame frame = peer.read();
                while (frame instanceof SessionFrame.Data data) {
                    long number = data.seq();
                    assertThat(number).as("no gap").isLessThanOrEqualTo(received + 1);
                    for (Message message : data.messages()) {
                        if (number++ == received + 1) {
                            received++;
                            fruitless = 0;
                            answers += kind.isInstance(message) ? 1 : 0;
                        }
                    }
                    if (answers == wanted) {
                        break;
                    }
                    peer.trySend(RawPeer.bytes(new SessionFrame.Data(session, 1, received, false, 0, 0, List.of())));
                    frame = peer.read();
                }
                asking.join();
            }
        }
        return answers;
    }
}
