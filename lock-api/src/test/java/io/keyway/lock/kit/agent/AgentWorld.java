// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Users with an agent each, and locks with an authority each, in virtual time. Messages between a user and an authority
 * take a random time and keep their order; probes may be lost.
 *
 * <p>It knows at each instant who truly waits for whom: by the word of the authority and of both agents. So it can
 * judge each surrender and abort: <i>sound</i>, if the victim was on a circle through the lock that it gives up, not
 * longer ago than a confirmation takes; <i>honest</i>, if its user was not told that it has that lock; <i>fair</i>, if
 * no other on the circle has given way much less often. A request that is granted while the lock is another's, by what
 * agents say, is an <i>overlap</i>.
 */
final class AgentWorld {
    /** The longest time that a message takes. */
    static final long DELAY = 5_000_000;

    private record Event(long at, long order, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** One user at a time has one transaction; when that is over the next one has another number. */
    final class User implements AgentEffects {
        final int index;
        Agent agent;
        Probe.Agent self;
        long wakeAt = Long.MAX_VALUE;
        final Map<LockName, Long> tokens = new HashMap<>();
        final Map<LockName, Long> requests = new HashMap<>();
        final Set<LockName> told = new HashSet<>();
        int generation;
        boolean aborted;
        private boolean wishes;
        private long behaves = Long.MIN_VALUE / 2;

        User(int index) {
            this.index = index;
        }

        void begin(long client, int age, OnDeadlock onDeadlock) {
            generation++;
            aborted = false;
            self = new Probe.Agent(client, ++numbers);
            agent = new Agent(self, "user" + index, age, onDeadlock, this);
        }

        void want(List<LockRequest> locks) {
            for (LockRequest each : locks) {
                long id = nextRequest();
                agent.asked(each.name(), each.mode(), id, now);
                ask(each.name(), each.mode(), id);
            }
            decided();
        }

        @Override
        public long nextRequest() {
            return ++numbers;
        }

        @Override
        public void ask(LockName name, LockMode mode, long request) {
            requests.put(name, request);
            changed = true;
            int life = generation;
            send(index, () -> {
                Authority at = authority(name);
                changed = true;
                at.queue.add(new Authority.Wait(index, request, mode));
                serve(name);
                if (!at.inTheWayOf(index, request).isEmpty()) {
                    receive(index, () -> {
                        if (life == generation) {
                            agent.waits(name, request, now);
                        }
                    });
                }
            });
            agent.sent(name, request, now);
        }

        void granted(LockName name, long request, long token, int life) {
            if (life == generation && agent.granted(name, request, token, now)) {
                tokens.put(name, token);
                requests.remove(name);
                changed = true;
            } else {
                send(index, () -> give(name, token));
            }
        }

        private void give(LockName name, long token) {
            authority(name).release(index, token);
            serve(name);
        }

        void behave(OnDeadlock answer, int priority, int age) {
            behaves = now;
            agent.behave(answer, priority, age, now);
        }

        /** By its own wish, and then its user knows that it is not held. */
        void surrender(LockName name) {
            wishes = true;
            told.remove(name);
            agent.surrender(name, now);
            wishes = false;
        }

        @Override
        public void release(LockName name, long token) {
            assertThat(told)
                    .as("honest: what user %s was told that it holds", index)
                    .doesNotContain(name);
            assertThat(tokens.remove(name)).isEqualTo(token);
            changed = true;
            if (wishes) {
                wished++;
            } else {
                judge(this, name);
                surrenders++;
            }
            send(index, () -> give(name, token));
        }

        @Override
        public void withdraw(LockName name, long request) {
            changed = true;
            assertThat(requests.remove(name)).isEqualTo(request);
            if (wishes) {
                wished++;
            } else {
                judge(this, name);
                surrenders++;
                places++;
            }
            send(index, () -> {
                authority(name).withdraw(index, request);
                serve(name);
            });
        }

        @Override
        public void abort(Deadlock deadlock) {
            judge(this, deadlock.gaveUp());
            aborts++;
            aborted = true;
            withdrawAll();
        }

        private void withdrawAll() {
            changed = true;
            requests.forEach((name, request) -> send(index, () -> {
                authority(name).withdraw(index, request);
                // One that was granted by now comes back by its token.
                serve(name);
            }));
            requests.clear();
        }

        void cancel(LockName name) {
            Long request = requests.remove(name);
            changed = true;
            if (request != null) {
                agent.gone(name, request);
                send(index, () -> {
                    authority(name).withdraw(index, request);
                    serve(name);
                });
            }
        }

        void close() {
            agent.end();
            withdrawAll();
            tokens.forEach((name, token) -> send(index, () -> give(name, token)));
            tokens.clear();
            told.clear();
            generation++;
        }

        @Override
        public boolean passOver(LockName name) {
            return false;
        }

        @Override
        public void probe(LockName name, long request, Probe probe) {
            boolean gaveWay = probe.kind() != Probe.Kind.SEARCH && probe.kind() != Probe.Kind.CONFIRM;
            if (gaveWay && probe.initiator().equals(self)) {
                fair(this, probe);
            }
            Probe sent = defect.apply(this, probe);
            if (sent == null || random.nextDouble() < loss) {
                return;
            }
            probes++;
            send(index, () -> {
                for (Object blocker : authority(name).inTheWayOf(index, request)) {
                    boolean held = blocker instanceof Authority.Grant;
                    int to = held ? ((Authority.Grant) blocker).user() : ((Authority.Wait) blocker).user();
                    long token = held ? ((Authority.Grant) blocker).token() : 0;
                    long ahead = held ? 0 : ((Authority.Wait) blocker).request();
                    receive(to, () -> users.get(to).probed(name, token, ahead, sent));
                }
            });
        }

        private void probed(LockName name, long token, long ahead, Probe probe) {
            if (agent != null) {
                agent.probed(name, token, ahead, arrival.apply(this, probe), now);
            }
        }

        @Override
        public void wakeAt(long nanos) {
            if (nanos < wakeAt) {
                wakeAt = nanos;
                at(nanos, () -> {
                    if (wakeAt <= now) {
                        wakeAt = Long.MAX_VALUE;
                        agent.due(now);
                    }
                });
            }
        }

        private void decided() {
            if (agent != null && !aborted && agent.isComplete()) {
                told.clear();
                told.addAll(tokens.keySet());
            }
        }
    }

    final Random random;
    final List<User> users = new ArrayList<>();
    final Map<LockName, Authority> authorities = new HashMap<>();
    /** What becomes of a probe that an agent sends; null: it is lost. */
    BiFunction<User, Probe, Probe> defect = (user, probe) -> probe;

    /** What a probe is when it arrives. */
    BiFunction<User, Probe, Probe> arrival = (user, probe) -> probe;

    double loss;
    /** Whether users surrender by their own wish now and then, and change how they behave. */
    boolean wishes;

    long now;
    int surrenders;
    /** Of those, of a place in a queue. */
    int places;

    int wished;
    int aborts;
    int grants;
    long probes;
    long lastProgress;
    int compared;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final Map<Integer, Long> lastSent = new HashMap<>();
    private final Map<Integer, Long> lastReceived = new HashMap<>();
    private final Map<String, Long> onCircle = new HashMap<>();
    private Set<String> standing = new HashSet<>();
    private boolean changed;
    private long orders;
    private long numbers;

    AgentWorld(int size, Random random) {
        this.random = random;
        for (int i = 0; i < size; i++) {
            users.add(new User(i));
        }
    }

    Authority authority(LockName name) {
        return authorities.computeIfAbsent(name, fresh -> new Authority());
    }

    void at(long time, Runnable action) {
        events.add(new Event(Math.max(time, now), orders++, action));
    }

    private long delay() {
        return 1 + (long) (random.nextDouble() * DELAY);
    }

    private void send(int user, Runnable message) {
        long arrives = Math.max(now + delay(), lastSent.getOrDefault(user, 0L));
        lastSent.put(user, arrives);
        at(arrives, message);
    }

    private void receive(int user, Runnable message) {
        long arrives = Math.max(now + delay(), lastReceived.getOrDefault(user, 0L));
        lastReceived.put(user, arrives);
        at(arrives, message);
    }

    private void serve(LockName name) {
        changed = true;
        Authority authority = authority(name);
        for (Authority.Wait wait : authority.next()) {
            long token = ++numbers;
            grants++;
            lastProgress = now;
            authority.grants.add(new Authority.Grant(wait.user(), token, wait.mode()));
            User user = users.get(wait.user());
            int life = user.generation;
            receive(wait.user(), () -> user.granted(name, wait.request(), token, life));
        }
    }

    /** Runs the next event; false if there is none. */
    boolean step() {
        Event event = events.poll();
        if (event == null) {
            return false;
        }
        now = event.at();
        event.action().run();
        users.forEach(User::decided);
        exclusion();
        circles();
        return true;
    }

    /** Who holds what and waits for what, for people. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("at " + now);
        authorities.forEach((name, authority) -> text.append("\n")
                .append(name)
                .append(' ')
                .append(authority.grants)
                .append(" <- ")
                .append(authority.queue));
        for (User user : users) {
            text.append("\nuser ")
                    .append(user.index)
                    .append(' ')
                    .append(user.self)
                    .append(" has ")
                    .append(user.tokens);
            text.append(" wants ").append(user.requests).append(" told ").append(user.told);
            text.append(user.aborted ? " aborted" : "").append(" wakes ").append(user.wakeAt);
            text.append(user.agent == null ? "" : " age " + user.agent.age());
        }
        return text.toString();
    }

    // The rules

    private void exclusion() {
        Map<LockName, Integer> holders = new HashMap<>();
        Set<LockName> written = new HashSet<>();
        for (User user : users) {
            for (LockName name : user.told) {
                holders.merge(name, 1, Integer::sum);
                if (user.agent.mode(name) == LockMode.EXCLUSIVE) {
                    written.add(name);
                }
            }
        }
        for (LockName name : written) {
            assertThat(holders.get(name))
                    .as("users who were told that they hold %s, one of them alone", name)
                    .isEqualTo(1);
        }
    }

    /** By lock: who truly waits for whom, now. */
    private Map<LockName, Map<Integer, Set<Integer>>> edges() {
        Map<LockName, Map<Integer, Set<Integer>>> edges = new HashMap<>();
        authorities.forEach((name, authority) -> {
            for (Authority.Wait wait : authority.queue) {
                User waiter = users.get(wait.user());
                if (waiter.agent == null || !Long.valueOf(wait.request()).equals(waiter.requests.get(name))) {
                    continue;
                }
                for (Object blocker : authority.inTheWayOf(wait.user(), wait.request())) {
                    if (blocker instanceof Authority.Grant grant
                            && Long.valueOf(grant.token())
                                    .equals(users.get(grant.user()).tokens.get(name))) {
                        edge(edges, name, wait.user(), grant.user());
                    } else if (blocker instanceof Authority.Wait ahead
                            && Long.valueOf(ahead.request())
                                    .equals(users.get(ahead.user()).requests.get(name))) {
                        edge(edges, name, wait.user(), ahead.user());
                    }
                }
            }
        });
        return edges;
    }

    private static void edge(Map<LockName, Map<Integer, Set<Integer>>> in, LockName lock, int from, int to) {
        in.computeIfAbsent(lock, fresh -> new HashMap<>())
                .computeIfAbsent(from, fresh -> new HashSet<>())
                .add(to);
    }

    /** Who is on a circle, looked up when who waits for whom may have changed; and when circles were last left. */
    private void circles() {
        if (!changed) {
            return;
        }
        changed = false;
        Set<String> now = standing();
        standing.removeAll(now);
        standing.forEach(left -> onCircle.put(left, this.now));
        standing = now;
    }

    private Set<String> standing() {
        Set<String> found = new HashSet<>();
        Map<LockName, Map<Integer, Set<Integer>>> edges = edges();
        Map<Integer, Set<Integer>> all = new HashMap<>();
        edges.values()
                .forEach(of -> of.forEach((from, to) ->
                        all.computeIfAbsent(from, fresh -> new HashSet<>()).addAll(to)));
        edges.forEach((lock, of) -> of.forEach((from, tos) -> {
            for (int to : tos) {
                if (reaches(all, to, from, new HashSet<>())) {
                    found.add(to + " " + lock);
                }
            }
        }));
        return found;
    }

    private static boolean reaches(Map<Integer, Set<Integer>> edges, int from, int to, Set<Integer> seen) {
        if (from == to) {
            return true;
        }
        for (int next : edges.getOrDefault(from, Set.of())) {
            if (seen.add(next) && reaches(edges, next, to, seen)) {
                return true;
            }
        }
        return false;
    }

    /** Of those on the circle nobody has given way much less often. */
    private void fair(User victim, Probe circle) {
        for (int i = 1; i < circle.path().size(); i++) {
            Probe.Agent self = circle.path().get(i).waiter();
            for (User other : users) {
                if (self.equals(other.self)
                        && other.agent.priority() == victim.agent.priority()
                        // What it has been for less than a confirmation takes, others may not know.
                        && now - other.behaves > 2 * DELAY * (users.size() + 1)) {
                    assertThat(Agent.doublings(other.agent.age()))
                            .as("fair: user %s gives way for user %s", victim.index, other.index)
                            .isGreaterThanOrEqualTo(Agent.doublings(victim.agent.age()));
                    compared++;
                }
            }
        }
    }

    private void judge(User victim, LockName lock) {
        lastProgress = now;
        long confirmation = 2 * DELAY * (users.size() + 1);
        String claim = victim.index + " " + lock;
        Long seen = standing.contains(claim) ? Long.valueOf(now) : onCircle.get(claim);
        assertThat(seen)
                .as(
                        "sound: user %s gives %s up at %s, and when it was last on a circle through it",
                        victim.index, lock, now)
                .isNotNull()
                .isGreaterThanOrEqualTo(now - confirmation);
    }
}
