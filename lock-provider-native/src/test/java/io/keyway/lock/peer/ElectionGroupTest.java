// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Candidate;
import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.ElectionListener;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.group.ElectionGroup;
import io.keyway.lock.group.GroupCallException;
import io.keyway.lock.group.GroupMember;
import io.keyway.lock.group.GroupOptions;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import io.keyway.lock.tck.wrap.Proxies;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Processes of an election that talk with each other, over sockets. */
class ElectionGroupTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final LockKey LOCK = LockKey.lock("group");
    private static final Logger LOG = Logger.getLogger("io.keyway.lock.group.Group");

    private String url = "";
    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeEach
    void open(TestInfo test) {
        url = "lock:native:mem://group-" + test.getTestMethod().orElseThrow().getName() + "?ttl=10s";
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String answer(CompletionStage<byte[]> stage) throws Exception {
        return text(stage.toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS));
    }

    /** Answers with its name, and writes down what it hears. */
    private static class Member implements GroupMember {
        final String name;
        final List<String> heard = new CopyOnWriteArrayList<>();
        /** While it is not open, calls and questions are not answered. */
        volatile CountDownLatch open = new CountDownLatch(0);

        Member(String name) {
            this.name = name;
        }

        private void awaitOpen() {
            try {
                if (!open.await(Patience.seconds(60), TimeUnit.SECONDS)) {
                    heard.add("was not let go on");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void elected(long token, Optional<byte[]> handed) {
            heard.add("elected with " + handed.map(ElectionGroupTest::text).orElse("nothing"));
        }

        @Override
        public byte[] surrendered() {
            heard.add("surrendered");
            return bytes("work of " + name);
        }

        @Override
        public void deposed(LeaseLoss loss) {
            heard.add("deposed " + loss.cause());
        }

        @Override
        public byte[] state() {
            return bytes("state of " + name);
        }

        @Override
        public void following(String leader, long token, byte[] state) {
            heard.add("follows " + leader + " in " + text(state));
        }

        @Override
        public void leaderGone(String leader) {
            heard.add("lost " + leader);
        }

        @Override
        public byte[] called(String from, byte[] request) throws Exception {
            awaitOpen();
            if (text(request).equals("wrong")) {
                throw new IllegalArgumentException("that is wrong");
            }
            return bytes(name + " answers " + from + ": " + text(request));
        }

        @Override
        public void cast(String from, byte[] message) {
            heard.add("cast of " + from + ": " + text(message));
        }

        @Override
        public byte[] asked(String leader, byte[] question) {
            awaitOpen();
            return bytes(name + " to " + leader);
        }

        @Override
        public void told(String leader, byte[] message) {
            heard.add(leader + " tells " + text(message));
        }
    }

    private LockClient client() {
        LockClient client = Locks.open(url);
        opened.add(client);
        return client;
    }

    private ElectionGroup stand(LockClient client, Member member, GroupOptions options) {
        ElectionGroup group = ElectionGroup.stand(client.election("group").as(member.name), member, options);
        opened.add(group);
        return group;
    }

    private ElectionGroup stand(Member member) {
        return stand(client(), member, GroupOptions.defaults());
    }

    private ElectionGroup observe(Member member) {
        ElectionGroup group =
                ElectionGroup.observe(client().election("group"), member.name, member, GroupOptions.defaults());
        opened.add(group);
        return group;
    }

    private static void awaitHeard(Member member, String what) {
        await().atMost(Patience.of(PATIENCE))
                .untilAsserted(() -> assertThat(member.heard).contains(what));
    }

    @Test
    void allCallTheLeaderAndTheLeaderAsksAndTellsAll() throws Exception {
        Member a = new Member("a");
        Member b = new Member("b");
        Member c = new Member("c");
        Member watcher = new Member("watcher");
        ElectionGroup first = stand(a);
        awaitHeard(a, "elected with nothing");
        ElectionGroup second = stand(b);
        stand(c);
        ElectionGroup observer = observe(watcher);
        for (Member each : List.of(b, c, watcher)) {
            awaitHeard(each, "follows a in state of a");
        }

        assertThat(answer(second.call(bytes("x"), PATIENCE))).isEqualTo("a answers b: x");
        assertThat(answer(observer.call(bytes("y"), PATIENCE))).isEqualTo("a answers watcher: y");
        assertThat(answer(first.call(bytes("z"), PATIENCE))).isEqualTo("a answers a: z");
        assertThatThrownBy(() -> answer(second.call(bytes("wrong"), PATIENCE)))
                .isInstanceOf(ExecutionException.class)
                .hasRootCauseInstanceOf(GroupCallException.class)
                .hasMessageContaining("that is wrong");
        second.cast(bytes("news"), PATIENCE).toCompletableFuture().get();
        awaitHeard(a, "cast of b: news");

        first.broadcast(bytes("one")).toCompletableFuture().get();
        first.broadcastToCandidates(bytes("two")).toCompletableFuture().get();
        first.broadcast(bytes("three")).toCompletableFuture().get();
        awaitHeard(watcher, "a tells three");
        assertThat(watcher.heard).doesNotContain("a tells two");
        awaitHeard(b, "a tells two");
        awaitHeard(c, "a tells three");

        Map<String, byte[]> answers =
                first.ask(bytes("?"), PATIENCE).toCompletableFuture().get();
        assertThat(answers.keySet()).containsExactlyInAnyOrder("b", "c");
        assertThat(text(answers.getOrDefault("b", new byte[0]))).isEqualTo("b to a");
        c.open = new CountDownLatch(1);
        answers = first.ask(bytes("?"), Duration.ofMillis(500))
                .toCompletableFuture()
                .get();
        c.open.countDown();
        assertThat(answers.keySet()).as("who is silent keeps nobody waiting").containsExactly("b");
        assertThatThrownBy(() ->
                        second.ask(bytes("?"), PATIENCE).toCompletableFuture().get())
                .hasMessageContaining("does not lead");
        assertThatThrownBy(
                        () -> second.broadcast(bytes("?")).toCompletableFuture().get())
                .hasMessageContaining("does not lead");
    }

    @Test
    void callsAreKeptWhileNobodyLeads() throws Exception {
        ElectionGroup observer = observe(new Member("watcher"));
        assertThatThrownBy(() -> answer(observer.call(bytes("x"), Duration.ofMillis(100))))
                .hasRootCauseInstanceOf(GroupCallException.class)
                .satisfies(e -> {
                    GroupCallException why = (GroupCallException) e.getCause();
                    assertThat(why.reason()).isEqualTo(GroupCallException.Reason.NO_LEADER);
                    assertThat(why.mayBeDone()).isFalse();
                });
        CompletionStage<byte[]> call = observer.call(bytes("early"), PATIENCE);
        CompletionStage<Void> cast = observer.cast(bytes("early too"), PATIENCE);
        Member a = new Member("a");
        stand(a);
        assertThat(answer(call)).isEqualTo("a answers watcher: early");
        cast.toCompletableFuture().get();
        awaitHeard(a, "cast of watcher: early too");
    }

    @Test
    void whoGivesUpHandsItsStateToTheNext() throws Exception {
        Member a = new Member("a");
        Member b = new Member("b");
        ElectionGroup first = stand(a);
        awaitHeard(a, "elected with nothing");
        ElectionGroup second = stand(b);
        awaitHeard(b, "follows a in state of a");
        first.surrender();
        awaitHeard(b, "elected with work of a");
        awaitHeard(a, "follows b in state of b");
        assertThat(b.heard).contains("lost a");
        second.close();
        awaitHeard(a, "elected with work of b");
        assertThat(answer(first.call(bytes("x"), PATIENCE))).isEqualTo("a answers a: x");
        assertThatThrownBy(() -> answer(second.call(bytes("x"), PATIENCE)))
                .hasRootCauseInstanceOf(GroupCallException.class)
                .hasMessageContaining("closed");
    }

    /** Whether a call was carried out that has no answer is not known, so it is not sent to the next leader. */
    @Test
    void aCallFailsWhenItsLeaderIsGone() throws Exception {
        Member a = new Member("a");
        Member b = new Member("b");
        stand(a);
        awaitHeard(a, "elected with nothing");
        ElectionGroup second = stand(b);
        awaitHeard(b, "follows a in state of a");
        a.open = new CountDownLatch(1);
        CompletionStage<byte[]> call = second.call(bytes("x"), PATIENCE);
        await().atMost(Patience.of(PATIENCE)).until(() -> a.open.getCount() == 1 && isAsked(a));
        breakLeadership();
        awaitHeard(b, "elected with nothing");
        assertThatThrownBy(() -> answer(call)).satisfies(e -> {
            GroupCallException why = (GroupCallException) e.getCause();
            assertThat(why.reason()).isEqualTo(GroupCallException.Reason.LEADER_DIED);
            assertThat(why.mayBeDone()).isTrue();
        });
        assertThat(answer(second.call(bytes("y"), PATIENCE))).isEqualTo("b answers b: y");
        a.open.countDown();
        awaitHeard(a, "deposed BROKEN");
        awaitHeard(a, "follows b in state of b");
    }

    private static boolean isAsked(Member member) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("keyway-group-" + member.name))
                .flatMap(thread -> Arrays.stream(thread.getStackTrace()))
                .anyMatch(frame -> frame.getMethodName().equals("awaitOpen"));
    }

    private void breakLeadership() throws Exception {
        LockClient operator = client();
        Candidate leader = operator.election("group").leader().orElseThrow();
        assertThat(operator.admin().breakLease(LOCK, leader.token().orElseThrow(), "test"))
                .isTrue();
    }

    @Test
    void whoDoesNotKnowTheSecretFollowsNobody() throws Exception {
        Member a = new Member("a");
        Member b = new Member("b");
        Member c = new Member("c");
        GroupOptions secret = GroupOptions.defaults().withSecret("one");
        assertThat(secret.toString()).doesNotContain("one");
        stand(client(), a, secret);
        awaitHeard(a, "elected with nothing");
        ElectionGroup second = stand(client(), b, secret);
        ElectionGroup third = stand(client(), c, GroupOptions.defaults().withSecret("other"));
        assertThat(answer(second.call(bytes("x"), PATIENCE))).isEqualTo("a answers b: x");
        assertThatThrownBy(() -> answer(third.call(bytes("x"), Duration.ofSeconds(1))))
                .hasMessageContaining("nobody led, or was reached");
        assertThat(c.heard).isEmpty();
    }

    /** Whose candidates are elected, and lose that, before {@code stand} returns. */
    private static Election restless(Election election) {
        return Proxies.of(Election.class, (proxy, method, arguments) -> {
            if (method.getName().equals("stand")) {
                ElectionListener listener = (ElectionListener) Objects.requireNonNull(arguments[0]);
                LeaseLoss loss = new LeaseLoss(LeaseLoss.Cause.EXPIRED, Duration.ZERO, Optional.empty(), "of the test");
                for (ElectionEvent.Type type : List.of(ElectionEvent.Type.ELECTED, ElectionEvent.Type.SURRENDERED)) {
                    listener.onEvent(new ElectionEvent(
                            type,
                            election.name(),
                            "a",
                            OptionalLong.of(1),
                            type == ElectionEvent.Type.ELECTED ? Optional.empty() : Optional.of(loss)));
                }
            }
            Object result = Proxies.pass(election, method, arguments);
            return result instanceof Election other ? restless(other) : result;
        });
    }

    @Test
    void eventsThatComeWhileAGroupIsMadeAreToldInOrder() {
        Member a = new Member("a");
        opened.add(ElectionGroup.stand(restless(client().election("group").as("a")), a, GroupOptions.defaults()));
        await().atMost(Patience.of(PATIENCE)).until(() -> a.heard.size() >= 3);
        assertThat(a.heard).startsWith("elected with nothing", "deposed EXPIRED", "elected with nothing");
    }

    @Test
    void aClientThatIsClosedHasNoGroups() throws Exception {
        LockClient closed = client();
        closed.close();
        assertThatThrownBy(() -> stand(closed, new Member("a"), GroupOptions.defaults()))
                .isInstanceOf(ClientClosedException.class);
        assertThat(client().election("group").candidates()).isEmpty();
    }

    @Test
    void whatCannotWorkIsSaidAtOnce() {
        LockClient client = client();
        GroupOptions open = GroupOptions.defaults().withListen(new InetSocketAddress("0.0.0.0", 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stand(client, new Member("a"), open))
                .withMessageContaining("needs a secret");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GroupOptions.defaults().withAddress("nowhere"))
                .withMessageContaining("host:port");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GroupOptions.defaults().withSecret(""));
        ElectionGroup group =
                stand(client, new Member("b"), GroupOptions.defaults().withLongestMessage(10));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> group.call(new byte[11], PATIENCE))
                .withMessageContaining("at most 10 bytes, not 11");
    }

    @Test
    void aLeaderThatIsNotReachedIsToldInTheLogAfterEightAttempts() throws Exception {
        List<String> warnings = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                if (record.getLevel().equals(Level.WARNING)) {
                    warnings.add(new SimpleFormatter().formatMessage(record));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        LOG.addHandler(handler);
        try {
            String nobody = "127.0.0.1:" + Ports.free();
            stand(client(), new Member("one"), GroupOptions.defaults().withAddress(nobody));
            ElectionGroup follower = observe(new Member("other"));
            await().atMost(Patience.of(PATIENCE)).until(() -> {
                // Each call brings the next attempt forward.
                CompletionStage<Void> unused = follower.cast(bytes("soon"), Duration.ofMillis(1));
                return !warnings.isEmpty();
            });
            assertThat(warnings.get(0))
                    .contains("the leader one is not reached", nobody + ": Connection refused", "tried 8 times");
        } finally {
            LOG.removeHandler(handler);
        }
    }
}
