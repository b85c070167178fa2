// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.redis.WalkStore;
import io.keyway.lock.redis.WalkStore.Fate;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A machine over a real server, whose calls, answers and messages happen when the walk says so. */
final class WalkClient implements LockBackend.Signals, AutoCloseable {

    /** So long that nothing expires. */
    static final Duration TTL = Duration.ofHours(2);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** What the machine wants made, of the request with that id. */
    record Call(String what, long id, Consumer<LockBackend> verb) {}

    @FunctionalInterface
    private interface Verb<T> {
        T call() throws Exception;
    }

    @FunctionalInterface
    private interface Outcome<T> {
        void tell(T answer, long now);
    }

    final StoreMachine machine;
    final WalkStore store;
    final List<Call> calls = new ArrayList<>();
    final List<StoreMachine.Input> answers = new ArrayList<>();
    final Deque<String> messages = new ArrayDeque<>();
    final Map<Long, Grant> held = new TreeMap<>();
    final TreeSet<Long> wanted = new TreeSet<>();

    /** Lost by the clock: until when their users may not have stopped. */
    final Map<Long, Long> lapsed = new TreeMap<>();

    private final Map<Long, Long> deadlines = new TreeMap<>();
    private final Map<Long, Request> requests = new TreeMap<>();
    private final Map<Long, Long> conversions = new TreeMap<>();
    private final String name;
    private final List<String> story;
    private final StoreEffects effects = new Effects();
    private long now;
    private long slept;

    WalkClient(int number, RedisServer server, List<String> story) throws Exception {
        this.name = "client " + number + ": ";
        this.story = story;
        this.machine = new StoreMachine(
                number,
                EnumSet.complementOf(
                        EnumSet.of(Feature.CACHING, Feature.TRANSACTIONS, Feature.TREE, Feature.NODE_SETS)),
                false,
                "the server");
        this.store = WalkStore.open(server, this);
    }

    void at(long nanos) {
        now = nanos + slept;
    }

    /** Its clock goes on, and nothing else happens meanwhile. */
    void sleep(long nanos) {
        story.add(name + "sleeps");
        slept += nanos;
        now += nanos;
        machine.tick(now);
        carryOut();
        lapsed.values().removeIf(stopped -> now - stopped >= 0);
    }

    /** The user of a lapsed grant says that it has stopped. */
    void stop(long id) {
        story.add(name + "has stopped " + id);
        lapsed.remove(id);
        machine.release(id, now);
        carryOut();
    }

    // What its user does.

    void ask(LockKey key, LockMode mode, int permits, int capacity, boolean queue) {
        Request request = request(key, mode, permits, capacity, queue);
        machine.submit(request, now);
        carryOut();
    }

    /** Upgrades a reader, downgrades a writer. */
    void change(long holder, boolean queue) {
        boolean reads = mode(holder) == LockMode.SHARED;
        Request request =
                request(held.get(holder).key(), reads ? LockMode.EXCLUSIVE : LockMode.SHARED, 1, 1, queue || !reads);
        conversions.put(request.id(), holder);
        machine.convert(holder, request, now);
        carryOut();
    }

    private Request request(LockKey key, LockMode mode, int permits, int capacity, boolean queue) {
        long id = requests.size() + 1L;
        Request request = new Request(id, key, mode, permits, capacity, TTL, queue, new Owner(name, Map.of()));
        requests.put(id, request);
        wanted.add(id);
        story.add(name + "asks " + id + " " + key + " " + mode + (queue ? "" : " at once"));
        return request;
    }

    LockMode mode(long id) {
        return requests.get(id).mode();
    }

    boolean changes(long holder) {
        return conversions.containsValue(holder);
    }

    void giveUp(long id) {
        story.add(name + "gives up " + id);
        wanted.remove(id);
        Long holder = conversions.get(id);
        machine.withdraw(id, now);
        carryOut();
        if (holder != null && mode(holder) == LockMode.EXCLUSIVE && held.containsKey(holder)) {
            release(holder); // who asks to read only writes no more, whatever comes of it
        }
    }

    void release(long id) {
        story.add(name + "releases " + id);
        held.remove(id);
        machine.release(id, now);
        carryOut();
    }

    /** An operator breaks a grant, whether its client knows of it yet or not. */
    void breakGrant(LockKey key, long token) throws Exception {
        story.add(name + "breaks token " + token);
        store.backend(Fate.ANSWERED).breakGrant(key, token, "a test", LIMIT);
    }

    /** The requests for permits that it may use, also those that it has lost by the clock. */
    Stream<Request> permits() {
        return Stream.concat(held.keySet().stream(), lapsed.keySet().stream())
                .map(requests::get)
                .filter(request -> request.mode() == LockMode.PERMITS);
    }

    void make(Call call, Fate fate) {
        calls.remove(call);
        story.add(name + call.what + " " + call.id + (fate == Fate.ANSWERED ? "" : ", " + fate));
        call.verb.accept(store.backend(fate));
    }

    private void attempt(long id, long sentAt, Verb<Attempt> verb) {
        try {
            Attempt answer = verb.call();
            story.add(name + "is answered " + answer.getClass().getSimpleName());
            answers.add((at, time) -> at.attempted(id, sentAt, answer, time));
        } catch (Exception e) {
            boolean maybe = !(e instanceof NotExecutedException);
            answers.add((at, time) -> at.attemptFailed(id, maybe, "lost", null, time));
        }
    }

    private <T> void verb(long id, Verb<T> verb, Outcome<T> outcome) {
        try {
            T answer = verb.call();
            answers.add((at, time) -> outcome.tell(answer, time));
        } catch (Exception e) {
            boolean maybe = !(e instanceof NotExecutedException);
            answers.add((at, time) -> at.cleanUpFailed(id, maybe, time));
        }
    }

    void answer(StoreMachine.Input answer) {
        answers.remove(answer);
        answer.apply(machine, now);
        carryOut();
    }

    void hear() throws Exception {
        String message = messages.remove();
        story.add(name + "hears " + message);
        store.hear(message);
    }

    /** Makes the calls that failed again; false if there is none that is due within that time. */
    boolean tick(long nanos) {
        long soon = now + nanos;
        if (machine.nextDue().isEmpty() || machine.nextDue().getAsLong() > soon) {
            return false;
        }
        machine.tick(soon);
        carryOut();
        return true;
    }

    private void carryOut() {
        machine.effects().forEach(effect -> effect.accept(effects));
    }

    private final class Effects implements StoreEffects {

        @Override
        public void attempt(Request request, boolean heartbeat) {
            long id = request.id();
            long wantedAt = now;
            add(
                    "attempts",
                    id,
                    backend -> WalkClient.this.attempt(id, wantedAt, () -> backend.attempt(request, LIMIT)));
        }

        @Override
        public void convert(Grant grant, Request request, boolean heartbeat) {
            long id = request.id();
            long wantedAt = now;
            add(
                    "converts " + grant.id() + " to",
                    id,
                    backend -> WalkClient.this.attempt(id, wantedAt, () -> backend.convert(grant, request, LIMIT)));
        }

        @Override
        public void renew(List<Grant> grants) {}

        @Override
        public void release(Grant grant, boolean keeps) {
            long id = grant.id();
            Outcome<Answer> told = (answer, at) -> machine.released(id, answer, at);
            add("sends the release of", id, backend -> verb(id, () -> backend.release(grant, LIMIT), told));
        }

        @Override
        public void withdraw(Request request) {
            long id = request.id();
            Outcome<Boolean> told = (answer, at) -> machine.withdrawn(id);
            add(
                    "withdraws",
                    id,
                    backend -> verb(
                            id,
                            () -> {
                                backend.withdraw(request, LIMIT);
                                return true;
                            },
                            told));
        }

        private void add(String what, long id, Consumer<LockBackend> verb) {
            calls.add(new Call(what, id, verb));
        }

        @Override
        public void waiting(long id, OptionalInt ahead, List<Owner> holders) {}

        @Override
        public void refused(long id, List<Owner> holders) {
            wanted.remove(id);
        }

        @Override
        public void granted(long id, Grant grant, long deadlineNanos) {
            deadlines.put(id, deadlineNanos);
            story.add(name + "holds " + id);
            holds(id, grant);
        }

        @Override
        public void converted(long from, long id, Grant grant, long deadlineNanos) {
            story.add(name + "holds " + id + " in place of " + from);
            held.remove(from);
            deadlines.put(id, deadlineNanos);
            holds(id, grant);
        }

        @Override
        public void extended(List<Grant> grants, long deadlineNanos) {}

        @Override
        public void doubt(long id, String why) {}

        @Override
        public void certain(long id) {}

        @Override
        public void ended(long id, LeaseLoss.Cause cause, String detail) {
            if (held.remove(id) != null && cause == LeaseLoss.Cause.EXPIRED) {
                story.add(name + "has lost " + id);
                lapsed.put(id, deadlines.get(id) + TTL.toNanos() / 4);
            }
        }

        @Override
        public void failed(long id, LockException failure) {
            wanted.remove(id);
        }

        @Override
        public void released(long id, Answer answer) {}

        @Override
        public void gone(Request request) {
            conversions.remove(request.id());
        }
    }

    private void holds(long id, Grant grant) {
        conversions.remove(id);
        if (wanted.remove(id)) {
            held.put(id, grant);
        } else {
            machine.release(id, now);
            carryOut();
        }
    }

    // What the store says.

    @Override
    public void recheck(LockKey key) {
        machine.recheck(key);
        carryOut();
    }

    @Override
    public void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
        machine.granted(request.id(), word, now);
        carryOut();
    }

    @Override
    public void recheck(LockKey key, long request) {
        machine.recheck(request);
        carryOut();
    }

    @Override
    public void doubt(String why) {}

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
        machine.ended(key, token, cause, "broken", now);
        carryOut();
    }

    @Override
    public void endedAll(LeaseLoss.Cause cause) {}

    @Override
    public void connected(String server) {}

    @Override
    public void disconnected(String server, String why) {}

    @Override
    public void background(String loopName, LockBackend.Loop loop) {
        Thread thread = new Thread(() -> run(loop), loopName);
        thread.setDaemon(true);
        thread.start();
    }

    private static void run(LockBackend.Loop loop) {
        try {
            loop.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
