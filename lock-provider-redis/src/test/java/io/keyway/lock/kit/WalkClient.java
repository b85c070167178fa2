// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLoss;
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
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** A machine over a real server, whose calls, answers and messages happen when the walk says so. */
final class WalkClient implements LockBackend.Signals, AutoCloseable {

    /** So long that nothing expires. */
    static final Duration TTL = Duration.ofHours(2);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** A call that the machine wants made. */
    record Call(StoreEffect effect, long wantedAt) {}

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
    final List<StoreInput> answers = new ArrayList<>();
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
    private long now;
    private long slept;

    WalkClient(int number, RedisServer server, List<String> story) throws Exception {
        this.name = "client " + number + ": ";
        this.story = story;
        this.machine = new StoreMachine(
                number, EnumSet.complementOf(EnumSet.of(Feature.CACHING, Feature.TRANSACTIONS)), false, "the server");
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

    void ask(LockKey key, LockMode mode, int permits, boolean queue) {
        Request request = request(key, mode, permits, queue);
        machine.submit(request, now);
        carryOut();
    }

    /** Upgrades a reader, downgrades a writer. */
    void change(long holder, boolean queue) {
        boolean reads = mode(holder) == LockMode.SHARED;
        Request request =
                request(held.get(holder).key(), reads ? LockMode.EXCLUSIVE : LockMode.SHARED, 1, queue || !reads);
        conversions.put(request.id(), holder);
        machine.convert(holder, request, now);
        carryOut();
    }

    private Request request(LockKey key, LockMode mode, int permits, boolean queue) {
        long id = requests.size() + 1L;
        int capacity = key.kind() == LockKey.Kind.SEMAPHORE ? 3 : 1;
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
        machine.withdraw(id, now);
        carryOut();
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

    // What happens on the way.

    void make(Call call, Fate fate) {
        calls.remove(call);
        LockBackend backend = store.backend(fate);
        if (call.effect instanceof StoreEffect.Attempt attempt) {
            Request request = attempt.request();
            tell("attempts", request.id(), fate);
            attempt(request.id(), call.wantedAt, () -> backend.attempt(request, LIMIT));
        } else if (call.effect instanceof StoreEffect.Convert convert) {
            Request request = convert.request();
            tell("converts " + convert.held().id() + " to", request.id(), fate);
            attempt(request.id(), call.wantedAt, () -> backend.convert(convert.held(), request, LIMIT));
        } else if (call.effect instanceof StoreEffect.Release release) {
            long id = release.grant().id();
            tell("sends the release of", id, fate);
            Outcome<Answer> told = (answer, at) -> machine.released(id, answer, at);
            verb(id, () -> backend.release(release.grant(), LIMIT), told);
        } else if (call.effect instanceof StoreEffect.Withdraw withdraw) {
            long id = withdraw.request().id();
            tell("withdraws", id, fate);
            Verb<Boolean> verb = () -> {
                backend.withdraw(withdraw.request(), LIMIT);
                return true;
            };
            verb(id, verb, (answer, at) -> machine.withdrawn(id));
        }
    }

    private void tell(String what, long id, Fate fate) {
        story.add(name + what + " " + id + (fate == Fate.ANSWERED ? "" : ", " + fate));
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

    void answer(StoreInput answer) {
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
        for (StoreEffect effect : machine.effects()) {
            if (effect instanceof StoreEffect.Granted granted) {
                deadlines.put(granted.id(), granted.deadlineNanos());
                story.add(name + "holds " + granted.id());
                holds(granted.id(), granted.grant());
            } else if (effect instanceof StoreEffect.Converted converted) {
                story.add(name + "holds " + converted.id() + " in place of " + converted.from());
                held.remove(converted.from());
                deadlines.put(converted.id(), converted.deadlineNanos());
                holds(converted.id(), converted.grant());
            } else if (effect instanceof StoreEffect.Refused refused) {
                wanted.remove(refused.id());
            } else if (effect instanceof StoreEffect.Failed failed) {
                wanted.remove(failed.id());
            } else if (effect instanceof StoreEffect.Ended ended) {
                if (held.remove(ended.id()) != null && ended.cause() == LeaseLoss.Cause.EXPIRED) {
                    story.add(name + "has lost " + ended.id());
                    lapsed.put(ended.id(), deadlines.get(ended.id()) + TTL.toNanos() / 4);
                }
            } else if (effect instanceof StoreEffect.Gone gone) {
                conversions.remove(gone.id());
            } else if (isCall(effect)) {
                calls.add(new Call(effect, now));
            }
        }
    }

    private static boolean isCall(StoreEffect effect) {
        return effect instanceof StoreEffect.Attempt
                || effect instanceof StoreEffect.Convert
                || effect instanceof StoreEffect.Release
                || effect instanceof StoreEffect.Withdraw;
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
        machine.news().recheck(key);
        carryOut();
    }

    @Override
    public void granted(Request request, Supplier<Optional<Attempt.Granted>> word) {
        machine.news().granted(request.id(), word, now);
        carryOut();
    }

    @Override
    public void recheck(LockKey key, long request) {
        machine.news().recheck(request);
        carryOut();
    }

    @Override
    public void doubt(String why) {}

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {
        machine.news().ended(key, token, cause, "broken", now);
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
