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
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
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
        final List<Wire> spare = new ArrayList<>();
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
            spare.add(line);
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
        return greeting(1, node, members);
    }

    private static WelcomeInfo greeting(int shards, String node, String... members) {
        return new WelcomeInfo(node, new Incarnation(1, 1), 1, 0, 0, List.of(members), shards, false, 0);
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

    // Where members lead

    private final Router<Wire> led = new Router<>(3, Key::id, Algorithm.Serving.BY_LEADER, world);

    private static Key ofShard(int shard, int shards) {
        for (int i = 0; ; i++) {
            if (MemberList.shard("n" + i, shards) == shard) {
                return LeaseKeys.lock("n" + i);
            }
        }
    }

    /** A member is found that leads the first of so many shards. */
    private Wire leading(int shards) {
        led.find();
        Wire found = world.finders.get(0);
        led.turned(found, greeting(shards, "b:1", "a:1", "b:1"), null);
        return found;
    }

    /** The line to the leader of the cells of that number. */
    private Wire line(int shard) {
        return world.lines.entrySet().stream()
                .filter(each -> each.getKey().shard() == shard)
                .map(Map.Entry::getValue)
                .reduce((one, other) -> {
                    throw new AssertionError("there are two lines to shard " + shard);
                })
                .orElseThrow(() -> new AssertionError("there is no line to shard " + shard));
    }

    @Test
    void eachShardHasOneLineToItsLeaderFromItsFirstRequestOn() {
        Key first = ofShard(0, 3);
        Key third = ofShard(2, 3);
        led.post(acquire(third, 1, 0));
        Wire found = leading(3);
        world.runAll();
        assertThat(found.posted).isEmpty();
        assertThat(line(2).posted).containsExactly(acquire(third, 1, 0));
        assertThat(world.lines).as("to no other shard").hasSize(1);
        led.post(acquire(first, 2, 0));
        assertThat(found.posted).containsExactly(acquire(first, 2, 0));
        led.turned(line(2), greeting(3, "a:1", "a:1", "b:1"), null);
        led.post(acquire(third, 3, 0));
        led.post(withdraw(third, 1));
        world.runAll();
        assertThat(line(2).posted)
                .as("it leads, whichever member it is")
                .containsExactly(acquire(third, 1, 0), acquire(third, 3, 0), withdraw(third, 1));
        assertThat(line(2).server()).isEqualTo("a:1");
        assertThat(world.finders).hasSize(1);
    }

    @Test
    void whatIsOfNoNameGoesToTheFirstShardAndAListingToAll() {
        Wire found = leading(3);
        Input.Command change = new Input.Command(new Key(4, ""), new LockCall.ChangeMembers(1, "c:1", true, 1000));
        led.post(change);
        led.post(new Input.Command(new Key(4, ""), new LockCall.ListNames(2, "", "", 10, 1000)));
        world.runAll();
        assertThat(found.posted).hasSize(2).startsWith(change);
        assertThat(line(1).posted).hasSize(1);
        List<Wire> all = List.of(found, line(1), line(2));
        for (int i = 0; i < all.size(); i++) {
            assertThat(world.told).as("before all have answered").isEmpty();
            List<Input> posted = all.get(i).posted;
            LockCall.ListNames asked = (LockCall.ListNames) ((Input.Command) posted.get(posted.size() - 1)).call();
            LockMessage.Page page = new LockMessage.Page(new Key(4, ""), asked.request(), List.of("n" + i), false);
            led.heard(all.get(i), new LockNotice.Told(new Key(4, ""), page));
        }
        assertThat(world.told)
                .singleElement()
                .satisfies(told -> assertThat(((LockMessage.Page) ((LockNotice.Told) told).answer()).names())
                        .containsExactly("n0", "n1", "n2"));
    }

    @Test
    void ofOneShardALineThatIsInTroubleIsTheOnlyOneForGood() {
        Wire found = leading(1);
        world.now = 60_000 * MS;
        led.turned(found, greeting("b:1", "a:1", "b:1"), new Unreachable("refused", false));
        assertThat(world.finders).hasSize(1);
        led.post(acquire(ofShard(0, 1), 1, 0));
        assertThat(found.posted).hasSize(1);
        assertThat(world.lines).isEmpty();
    }

    /** All members were ended, and started with fewer shards. */
    @Test
    void whoWaitsForAShardThatIsNoneAnyMoreAsksAnotherOne() {
        Key key = ofShard(2, 3);
        Wire found = leading(3);
        WelcomeInfo former = greeting(3, "a:1", "a:1", "b:1");
        led.post(acquire(key, 1, 0));
        led.turned(line(2), former, null);
        world.now = 60_000 * MS;
        led.turned(line(2), former, new Unreachable("there is no such cell", false));
        assertThat(world.finders).as("it may be back soon").hasSize(1);
        world.now = 66_000 * MS;
        led.turned(line(2), former, new Unreachable("there is no such cell", false));
        Wire second = world.finders.get(1);
        led.turned(second, greeting(1, "a:1", "a:1", "b:1"), null);
        assertThat(world.spare).containsExactly(second);
        assertThat(line(2).posted).containsExactly(acquire(key, 1, 0), new Input.Dismissed());
        led.heard(
                line(2),
                new LockNotice.Misdirected(
                        key, 1, (LockCall.Acquire) acquire(key, 1, 0).call(), null));
        world.later.remove().run();
        assertThat(found.posted).hasSize(1);
    }
}
