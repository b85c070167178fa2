// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.WelcomeInfo;
import io.keyway.lock.spi.Owner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RouterTest {
    private static final long MS = 1_000_000;

    private final Hands world = new Hands();
    private final Router<Wire> router = new Router<>(1, Key::id, world);

    private static final class Wire implements Router.Connection {
        final List<Input> posted = new ArrayList<>();
        private String server;
        private @Nullable NodeId node;

        Wire(String server, @Nullable NodeId node) {
            this.server = server;
            this.node = node;
        }

        @Override
        public String server() {
            return server;
        }

        @Override
        public @Nullable NodeId node() {
            return node;
        }

        @Override
        public void settled(NodeId member) {
            node = member;
            server = member.toString();
        }

        @Override
        public void post(Input input) {
            posted.add(input);
        }
    }

    /** A world whose thread takes a task when it is told to. */
    private static final class Hands implements Router.World<Wire> {
        final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        final ArrayDeque<Runnable> later = new ArrayDeque<>();
        final List<Wire> finders = new ArrayList<>();
        final Map<ShardId, Wire> lines = new HashMap<>();
        final List<Notice> told = new ArrayList<>();
        long now;

        void runAll() {
            for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
                next.run();
            }
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public void run(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void after(long nanos, Runnable task) {
            later.add(() -> {
                now += nanos;
                task.run();
            });
        }

        @Override
        public Wire connection(ShardId authority) {
            Wire line = new Wire(authority.node().toString(), authority.node());
            lines.put(authority, line);
            return line;
        }

        @Override
        public Wire finder() {
            Wire finder = new Wire("cluster", null);
            finders.add(finder);
            return finder;
        }

        @Override
        public void spare(Wire line) {
            throw new AssertionError("there is no line yet");
        }

        @Override
        public void learned(Routes routes) {}

        @Override
        public void nonsense(Wire line, String why) {
            throw new AssertionError(why);
        }

        @Override
        public void tell(@Nullable Wire from, Notice notice) {
            told.add(notice);
        }
    }

    private static WelcomeInfo greeting(String node, String... members) {
        return new WelcomeInfo(node, new Incarnation(1, 1), 1, 0, 0, List.of(members), 1, false, 0);
    }

    /** A member is found, and it is alone. */
    private Wire alone(String node) {
        router.find();
        Wire found = world.finders.get(0);
        router.turned(found, greeting(node, node), null);
        return found;
    }

    private static Input.Command acquire(Key key, long request, long waited) {
        Owner owner = new Owner("c", Map.of());
        return new Input.Command(
                key,
                new LockCall.Acquire(request, LockMode.EXCLUSIVE, 1, 1, 1000, owner, true, false, 500, waited, null));
    }

    private static Input.Command withdraw(Key key, long request) {
        return new Input.Command(key, new LockCall.Withdraw(request));
    }

    /** A name that moves when a second member joins the first. */
    private static Key moving() {
        MemberList both = MemberList.parse("a:1,b:1");
        for (int i = 0; ; i++) {
            if (both.owner("n" + i).host().equals("b")) {
                return LeaseKeys.lock("n" + i);
            }
        }
    }

    @Test
    void aWithdrawalStaysBehindARequestThatWasMadeBeforeTheMembersWereKnown() {
        Key key = moving();
        router.post(acquire(key, 1, 0));
        Wire a = alone("a:1");
        router.post(withdraw(key, 1));
        world.runAll();
        assertThat(a.posted).containsExactly(acquire(key, 1, 0), withdraw(key, 1));
    }

    @Test
    void aWithdrawalFollowsARequestToEachMemberThatMayHaveIt() {
        Key key = moving();
        Wire a = alone("a:1");
        router.post(acquire(key, 1, 0));
        router.turned(a, greeting("a:1", "a:1", "b:1"), null);
        router.post(acquire(key, 2, 0));
        router.post(withdraw(key, 1));
        router.post(acquire(key, 3, 0)); // by a caller who knows that the first one was withdrawn
        world.runAll();
        assertThat(a.posted).containsExactly(acquire(key, 1, 0), withdraw(key, 1));
        Wire b = world.lines.get(new ShardId(NodeId.parse("b:1"), 0));
        assertThat(b)
                .isNotNull()
                .extracting(line -> line.posted)
                .isEqualTo(List.of(acquire(key, 2, 0), withdraw(key, 1), acquire(key, 3, 0)));
    }

    @Test
    void whoIsSentAwayKeepsTheTimeOfItsCall() {
        Key key = moving();
        Wire a = alone("a:1");
        world.now = 7 * MS;
        router.heard(
                a,
                new LockNotice.Misdirected(
                        key, 1, (LockCall.Acquire) acquire(key, 1, 30 * MS).call(), null));
        world.later.remove().run();
        assertThat(a.posted).containsExactly(acquire(key, 1, 130 * MS));
    }

    @Test
    void whoGivesUpWhileItIsSentAwayIsAskedForNoMore() {
        Key key = moving();
        Wire a = alone("a:1");
        router.heard(
                a,
                new LockNotice.Misdirected(
                        key, 1, (LockCall.Acquire) acquire(key, 1, 0).call(), null));
        router.post(withdraw(key, 1));
        world.runAll();
        world.later.remove().run();
        assertThat(a.posted).isEmpty();
        assertThat(world.told).containsExactly(new LockNotice.Withdrawn(key, 1, null));
    }

    @Test
    void whoGivesUpJustBeforeItsLineSendsItAwayIsAskedForNoMore() {
        Key key = moving();
        Wire a = alone("a:1");
        router.post(acquire(key, 1, 0));
        router.turned(a, greeting("a:1", "b:1"), null);
        router.post(withdraw(key, 1));
        world.runAll();
        assertThat(a.posted).containsExactly(acquire(key, 1, 0), new Input.Dismissed(), withdraw(key, 1));
        router.heard(
                a,
                new LockNotice.Misdirected(
                        key, 1, (LockCall.Acquire) acquire(key, 1, 0).call(), null));
        assertThat(world.later).as("nothing is asked again").isEmpty();
        assertThat(world.told).containsExactly(new LockNotice.Withdrawn(key, 1, null));
    }

    @Test
    void aLineToWhoIsNoMemberAnyMoreIsToldSoWhenItFails() {
        Wire a = alone("a:1");
        WelcomeInfo moved = greeting("a:1", "b:1");
        router.turned(a, moved, null);
        assertThat(a.posted).containsExactly(new Input.Dismissed());
        Unreachable why = new Unreachable("refused", false);
        router.turned(a, moved, why);
        assertThat(a.posted).containsExactly(new Input.Dismissed(), new Input.Dismissed());
    }
}
