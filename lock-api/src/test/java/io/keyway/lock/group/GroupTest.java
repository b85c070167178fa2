// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockName;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A group as one process knows it, when others do what no group of ours does. */
class GroupTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final LockName ELECTION = LockName.of("election");
    private static final LeaseLoss LOSS = new LeaseLoss(LeaseLoss.Cause.EXPIRED, Duration.ZERO, Optional.empty(), "");

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private final AtomicInteger searches = new AtomicInteger();
    private volatile boolean believes = true;
    private volatile @Nullable Error fails;
    private volatile Group.Search search = () -> {
        throw new IOException("nobody leads");
    };

    private final GroupMember member = new GroupMember() {
        @Override
        public void elected(long token, Optional<byte[]> handed) {
            heard.add(token + " handed " + handed.map(Text::of).orElse("nothing"));
        }

        @Override
        public void told(String leader, byte[] message) {
            heard.add(leader + " tells " + Text.of(message));
        }

        @Override
        public byte[] called(String from, byte[] request) {
            heard.add("called");
            fail();
            return request;
        }

        @Override
        public byte[] surrendered() {
            heard.add("surrendered");
            fail();
            return new byte[0];
        }

        private void fail() {
            Error failure = fails;
            if (failure != null) {
                throw failure;
            }
        }
    };

    private final Group group =
            new Group(ELECTION, "keyway-group-test", "me", member, 100, () -> believes, this::counted);

    private Group.Found counted() throws Exception {
        searches.incrementAndGet();
        return search.find();
    }

    @AfterEach
    void close() {
        group.close();
    }

    /** A leader to whose end of the connection the test writes. */
    private final class Leader implements AutoCloseable {
        private final Socket socket;
        private final DataOutputStream out;

        Leader(String name, long token) throws IOException {
            try (ServerSocket entrance = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Socket following = new Socket(entrance.getInetAddress(), entrance.getLocalPort());
                socket = entrance.accept();
                out = new DataOutputStream(socket.getOutputStream());
                Link link = new Link(following, 100);
                search = () -> new Group.Found(link, name, token);
            }
        }

        void says(Frame.Kind kind, long number, String text) throws IOException {
            new Frame(kind, number, Text.bytes(text)).write(out);
        }

        Frame hears() throws IOException {
            return Frame.read(new DataInputStream(socket.getInputStream()), 100);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static byte[] get(CompletableFuture<byte[]> answer) throws Exception {
        return answer.get(3, TimeUnit.MINUTES);
    }

    @Test
    void whoDoesNotBelieveInItsLeaseCarriesNothingOut() throws Exception {
        group.post(() -> group.elected(5));
        believes = false;
        assertThatThrownBy(() -> get(group.say(Text.bytes("x"), false, Duration.ofMillis(50))))
                .hasMessageContaining("nobody led");
        assertThat(heard).doesNotContain("called");
        CompletableFuture<byte[]> kept = group.say(Text.bytes("y"), false, PATIENCE);
        group.post(() -> group.deposed(LOSS));
        group.post(() -> {
            believes = true;
            group.elected(7);
        });
        assertThat(Text.of(get(kept))).isEqualTo("y");
    }

    @Test
    void whatALeaderHandedOnGoesToTheNextOneAlone() throws Exception {
        try (Leader leader = new Leader("other", 5)) {
            group.post(() -> group.observed("other", 5));
            leader.says(Frame.Kind.HANDED, 5, "work");
            assertThat(leader.hears().kind()).isEqualTo(Frame.Kind.TAKEN);
            group.post(() -> group.observed("third", 6)); // it has the work
            group.post(() -> group.elected(7));
            await().until(() -> heard.contains("7 handed nothing"));
        }
    }

    @Test
    void whoHasHeardOfALaterLeaderTakesNothingFromAnEarlierOne() throws Exception {
        try (Leader leader = new Leader("other", 5)) {
            group.post(() -> group.observed("other", 5));
            leader.says(Frame.Kind.TELL, 0, "one");
            await().until(() -> heard.contains("other tells one"));
            group.post(() -> group.observed("third", 6));
            assertThatThrownBy(() -> {
                        leader.says(Frame.Kind.TELL, 0, "two");
                        leader.hears();
                    })
                    .as("the connection is over")
                    .isInstanceOf(IOException.class);
            assertThat(heard).doesNotContain("other tells two");
        }
    }

    /** The store may tell of the next leader before this process hears that it leads no more. */
    @Test
    void whoIsDeposedFollowsTheLeaderThatItHeardOfBefore() throws Exception {
        group.post(() -> group.elected(5));
        group.post(() -> group.observed("next", 6));
        CompletableFuture<Integer> whileLeading = new CompletableFuture<>();
        group.post(() -> whileLeading.complete(searches.get()));
        assertThat(whileLeading.get(3, TimeUnit.MINUTES)).isZero();
        try (Leader leader = new Leader("next", 6)) {
            group.post(() -> group.deposed(LOSS));
            leader.says(Frame.Kind.TELL, 0, "welcome");
            await().until(() -> heard.contains("next tells welcome"));
        }
    }

    @Test
    void anErrorOfTheMemberCutsTheProcessOffFromNothing() throws Exception {
        fails = new StackOverflowError("on purpose");
        group.post(() -> group.elected(7));
        assertThatThrownBy(() -> get(group.say(Text.bytes("x"), false, PATIENCE)))
                .hasCauseInstanceOf(GroupCallException.class)
                .hasMessageContaining("could not answer");
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        group.post(() -> group.surrendered(PATIENCE, () -> done.complete(true)));
        assertThat(done.get(3, TimeUnit.MINUTES)).isTrue();
        int before = searches.get();

        group.post(() -> group.observed("another", 8));

        await().until(() -> searches.get() > before);
    }

    @Test
    void anErrorOfTheSearchIsNotTheLastAttempt() {
        search = () -> {
            throw new StackOverflowError("on purpose");
        };
        group.post(() -> group.observed("another", 8));
        await().until(() -> searches.get() > 1);
    }

    /** As where its election tells of the end of its leadership later than the group is closed. */
    @Test
    void aMemberThatLeadsIsToldOfItsEndWhenItsGroupIsClosed() {
        group.post(() -> group.elected(7));
        group.close();
        await().until(() -> heard.size() == 2);
        assertThat(heard).containsExactly("7 handed nothing", "surrendered");
    }

    @Test
    void aLeaderThatIsNotReachedIsTriedLessAndLessOften() {
        List<Long> times = new CopyOnWriteArrayList<>();
        search = () -> {
            times.add(System.nanoTime());
            throw new IOException("nobody listens there");
        };
        group.post(() -> group.observed("far away", 8));
        await().until(() -> times.size() >= 4);
        long least = Duration.ofMillis(200).toNanos();
        for (int i = 1; i < times.size(); i++, least *= 2) {
            assertThat(times.get(i) - times.get(i - 1)).isGreaterThanOrEqualTo(least);
        }
    }

    @Test
    void aTimeOfAgesIsALimit() throws Exception {
        Duration ages = Duration.ofSeconds(Long.MAX_VALUE);
        CompletableFuture<byte[]> kept = group.say(Text.bytes("x"), false, ages);
        group.post(() -> group.elected(7));
        assertThat(Text.of(get(kept))).isEqualTo("x");
        assertThat(group.ask(Text.bytes("?"), ages).get(3, TimeUnit.MINUTES)).isEmpty();
    }

    @Test
    void whatIsSaidToAGroupThatIsClosedFailsAtOnce() throws Exception {
        CompletableFuture<byte[]> before = group.say(Text.bytes("x"), false, PATIENCE);
        group.close();
        CompletableFuture<byte[]> after = group.say(Text.bytes("y"), false, PATIENCE);
        for (CompletableFuture<byte[]> each : List.of(before, after)) {
            assertThatThrownBy(() -> get(each))
                    .hasRootCauseInstanceOf(GroupCallException.class)
                    .satisfies(e -> {
                        GroupCallException why = (GroupCallException) e.getCause();
                        assertThat(why.reason()).isEqualTo(GroupCallException.Reason.CLOSED);
                        assertThat(why.mayBeDone()).isFalse();
                    });
        }
    }
}
