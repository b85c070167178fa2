// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.kit.TransactionTwin;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.TreeModes;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One transaction after the other, each with up to three threads, which lock, try, await, cancel, surrender and unlock
 * as the seed draws. It believes what calls return and nothing else, and says when that is not so: what a call returned
 * is held; all that is wanted is held while the status says so; a call that says false leaves nothing behind; and
 * where nothing breaks nothing is lost and nothing fails.
 */
final class TransactionUser {
    private static final int THREADS = 3;

    private final TransactionModel model;
    private final SimNode node;
    private final int index;
    private final LockClient client;
    private final ArrayDeque<Act> later = new ArrayDeque<>();

    /** What calls have returned as held. */
    private final Map<LockName, LockMode> has = new LinkedHashMap<>();
    /** What its user has asked for, and neither given up nor heard that it cannot be had. */
    private final Map<LockName, LockMode> wants = new LinkedHashMap<>();
    /** By names, how often somebody has given one up, whatever for. */
    private final Map<LockName, Integer> givenUp = new HashMap<>();

    /** Whether each lock is at several members. */
    private final boolean overNodes;

    private @Nullable LockTransaction transaction;
    private @Nullable Act act;
    private Random random = new Random(0);
    private boolean trees;
    private int age;
    private int calls;
    private int threads;
    /** Counts its transactions; what was begun in a former one does nothing. */
    private long life;
    /** When something was last done with it, or happened to it. */
    private long changedAt;

    TransactionUser(TransactionModel model, SimNode node, int index, LockClient client) {
        this.model = model;
        this.node = node;
        this.index = index;
        this.client = client;
        this.overNodes = model.names == TransactionModel.Names.OVER_NODES;
    }

    // Its transactions

    boolean isBusy() {
        return act != null;
    }

    void begin(Act next) {
        if (act != null) {
            later.addLast(next);
            return;
        }
        act = next;
        life++;
        random = new Random(Draws.of(model.world.options().seed(), next.at()));
        trees = switch (model.names) {
            case FLAT -> false;
            case TREES -> true;
            case OVER_NODES -> model.treesAtNodes();
            case MIXED -> random.nextBoolean();
        };
        has.clear();
        wants.clear();
        givenUp.clear();
        calls = 0;
        changedAt = model.world.now();
        transaction =
                client.transaction(TransactionOptions.defaults().withTree(trees).withAge(age));
        threads = 1 + random.nextInt(THREADS);
        for (int i = 0; i < threads; i++) {
            step(2 + random.nextInt(4));
        }
    }

    /** A thread does something soon, and so many things more after that. */
    private void step(int left) {
        wake(pause(), () -> {
            if (left == 0 || model.world.healed() || isOver()) {
                threads--;
                endIfIdle();
            } else {
                act(left - 1);
            }
        });
    }

    private long pause() {
        long longest = Math.max(2, model.world.options().maxTtl() / 8);
        return 1 + (long) (longest * Math.pow(random.nextDouble(), 4));
    }

    private boolean isOver() {
        LockTransaction mine = transaction;
        return mine == null
                || switch (mine.status()) {
                    case LOST, ABORTED, CLOSED -> true;
                    default -> false;
                };
    }

    /** All threads are done: it is looked at after a while in which nothing happens, and closed. */
    private void endIfIdle() {
        if (threads > 0) {
            return;
        }
        boolean looks = model.calm && !model.world.healed() && random.nextInt(3) == 0 && !isOver();
        // Longer at times: so that two that wait for each other's locks have both stopped to ask.
        wake(looks ? quiet() * (1 + random.nextInt(4)) : 1, () -> {
            if (looks) {
                hasNothingMore();
            }
            close();
        });
    }

    /** For what is under way to be over. */
    private long quiet() {
        Options options = model.world.options();
        return 12 * (options.latency() + options.jitter()) + Nanos.SECOND;
    }

    private void close() {
        LockTransaction mine = transaction;
        if (mine != null) {
            age = mine.status() == Status.ABORTED ? age + 1 : 0;
            model.saw("closed " + mine.status());
            TransactionTwin.close(mine);
        }
        gone();
        changedAt = model.world.now();
        Act next = later.pollFirst();
        if (next != null && !model.world.healed()) {
            begin(next);
        }
    }

    void gone() {
        transaction = null;
        act = null;
        life++;
        has.clear();
        wants.clear();
    }

    private void wake(long nanos, Runnable what) {
        long current = life;
        model.world.wake(node, Math.max(1, nanos), 0, (Runnable) () -> {
            if (current == life) {
                what.run();
            }
        });
    }

    // What its threads do

    private void act(int left) {
        LockTransaction mine = transaction;
        if (mine == null) {
            return;
        }
        changedAt = model.world.now();
        int what = random.nextInt(14);
        try {
            if (what < 4) {
                lock(mine, left);
                return;
            } else if (what < 7) {
                tryLock(mine, left);
                return;
            } else if (what == 7) {
                List<LockRequest> requests = draw(1 + random.nextInt(3));
                mine.lockAsync(requests);
                requests.forEach(each -> want(each.name(), each.mode()));
                model.saw("asked");
            } else if (what == 8) {
                await(mine, left);
                return;
            } else if (what == 9) {
                cancel(mine, anyOf(wants));
            } else if (what == 10) {
                surrender(mine, anyOf(wants));
            } else if (what == 11) {
                unlock(mine, anyOf(has));
            } else if (what == 12 && model.breaks) {
                breakOne(mine);
            }
        } catch (DeadlockException | LeaseLostException e) {
            over(e);
        } catch (IllegalStateException | IllegalArgumentException e) {
            model.saw("refused to " + what); // it is upgraded, or above another one, and the like
        }
        step(left);
    }

    /** Some locks, each once. */
    private List<LockRequest> draw(int count) {
        Map<LockName, LockRequest> drawn = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            LockName name = name();
            LockMode mode = random.nextInt(5) < 2 ? LockMode.SHARED : LockMode.EXCLUSIVE;
            LockRequest request = new LockRequest(name, mode);
            drawn.put(name, overNodes ? request.at(model.nodes(name)) : request);
        }
        return new ArrayList<>(drawn.values());
    }

    private LockName name() {
        if (!trees) {
            return LockName.of("n" + random.nextInt(model.world.options().names()));
        }
        StringBuilder path = new StringBuilder("n" + random.nextInt(2));
        for (int depth = random.nextInt(3); depth > 0; depth--) {
            path.append(random.nextInt(3) == 0 ? "/c" : "/b");
        }
        return LockName.of(path.toString());
    }

    private @Nullable LockName anyOf(Map<LockName, LockMode> some) {
        List<LockName> names = new ArrayList<>(some.keySet());
        return names.isEmpty() ? null : names.get(random.nextInt(names.size()));
    }

    private void want(LockName name, LockMode mode) {
        wants.merge(name, mode, TransactionUser::stronger);
    }

    private static LockMode stronger(LockMode one, LockMode other) {
        return one == other ? one : LockMode.EXCLUSIVE;
    }

    private void giveUp(LockName name) {
        LockMode left = has.get(name);
        if (left == null) {
            wants.remove(name);
        } else {
            wants.put(name, left);
        }
        givenUp.merge(name, 1, Integer::sum);
    }

    private int timesGivenUp(List<LockRequest> requests) {
        return requests.stream()
                .mapToInt(each -> givenUp.getOrDefault(each.name(), 0))
                .sum();
    }

    private void lock(LockTransaction mine, int left) {
        List<LockRequest> requests = draw(1 + random.nextInt(3));
        TransactionTwin.Call call = TransactionTwin.lock(mine, requests);
        requests.forEach(each -> want(each.name(), each.mode()));
        model.saw("lock");
        int before = timesGivenUp(requests);
        ends(call, (told, failure) -> {
            if (failure == null) {
                returned("lock", mine, requests);
            } else if (failure instanceof CancellationException) {
                model.saw("a lock that was cancelled");
                ensure(
                        timesGivenUp(requests) > before,
                        "a lock of %s ends with %s, and nobody cancelled it",
                        requests,
                        failure);
                forget(mine, requests);
            } else {
                failed(mine, failure);
                forget(mine, requests);
            }
            step(left);
        });
    }

    /** Its user gives up what it does not know to have. */
    private void forget(LockTransaction mine, List<LockRequest> requests) {
        for (LockRequest each : requests) {
            if (!isOver() && wants.get(each.name()) != has.get(each.name())) {
                cancel(mine, each.name());
            }
        }
    }

    private void tryLock(LockTransaction mine, int left) {
        List<LockRequest> requests = draw(1);
        boolean queue = random.nextInt(3) > 0;
        TransactionTwin.Call call = TransactionTwin.tryLock(mine, requests.get(0), queue);
        model.saw(queue ? "try in time" : "try at once");
        boolean[] over = new boolean[1];
        ends(call, (told, failure) -> {
            over[0] = true;
            if (failure != null) {
                failed(mine, failure);
            } else if (told) {
                model.saw("try true");
                returned("tryLock", mine, requests);
            } else {
                model.saw("try false");
            }
            step(left);
        });
        long limit = queue ? 20 * pause() : 2 * model.world.options().maxTtl();
        wake(limit, () -> {
            if (!over[0] && call.leave()) {
                model.saw("try too late");
                step(left);
            }
        });
    }

    private void await(LockTransaction mine, int left) {
        TransactionTwin.Call call = TransactionTwin.awaitAll(mine);
        boolean[] over = new boolean[1];
        ends(call, (told, failure) -> {
            over[0] = true;
            if (failure != null) {
                failed(mine, failure);
            } else {
                model.saw("all");
                wants.forEach((name, mode) -> returned("awaitAll", mine, List.of(new LockRequest(name, mode))));
            }
            step(left);
        });
        wake(20 * pause(), () -> {
            if (!over[0] && call.leave()) {
                step(left);
            }
        });
    }

    private interface End {
        void told(boolean told, @Nullable Throwable failure);
    }

    private void ends(TransactionTwin.Call call, End end) {
        long current = life;
        calls++;
        call.outcome().whenComplete((told, failure) -> {
            if (current == life) {
                calls--;
                changedAt = model.world.now();
                try {
                    end.told(failure == null && told, failure);
                } catch (RuntimeException | Error e) {
                    model.broken = e; // which the future would keep to itself
                }
            }
        });
    }

    /** A call has returned: its user works under those. */
    private void returned(String what, LockTransaction mine, List<LockRequest> requests) {
        for (LockRequest each : requests) {
            if (!isOver()) {
                ensure(
                        isHeld(mine, each.name(), each.mode()),
                        "%s returned %s %s, and what it has is %s",
                        what,
                        each.name(),
                        each.mode(),
                        TransactionTwin.believed(mine));
                has.merge(each.name(), each.mode(), TransactionUser::stronger);
                want(each.name(), each.mode());
            }
        }
    }

    private void failed(LockTransaction mine, Throwable failure) {
        if (failure instanceof DeadlockException || failure instanceof LeaseLostException) {
            over(failure);
        } else if (failure instanceof LockUnavailableException) {
            model.saw("failed");
            ensure(
                    !model.calm || model.names == TransactionModel.Names.MIXED,
                    "%s failed, and nothing is broken",
                    failure);
            // Which of them it was its user does not know; and who waits for all may be told within the first cancel.
            Map<LockName, LockMode> unknown = new LinkedHashMap<>(wants);
            unknown.entrySet().removeIf(each -> each.getValue() == has.get(each.getKey()));
            unknown.keySet().forEach(this::giveUp);
            unknown.forEach((name, mode) -> {
                if (!isOver()) {
                    cancel(mine, name, mode);
                }
            });
        } else if (!(failure instanceof IllegalStateException)) {
            throw new Violation("exception", String.valueOf(failure), failure);
        }
    }

    private void over(Throwable why) {
        model.saw(why instanceof DeadlockException ? "aborted" : "lost");
    }

    private void cancel(LockTransaction mine, @Nullable LockName name) {
        if (name != null) {
            LockMode before = wants.get(name);
            giveUp(name); // those who hear of that hear it within the call
            cancel(mine, name, before);
        }
    }

    /** Its user wanted that in this mode, or not, and has given it up. */
    private void cancel(LockTransaction mine, LockName name, @Nullable LockMode before) {
        if (!mine.cancel(name.value()) && before != null && !isOver() && isHeld(mine, name, before)) {
            returned("a cancel that was too late", mine, List.of(new LockRequest(name, before)));
        }
        model.saw("cancel");
    }

    private void surrender(LockTransaction mine, @Nullable LockName name) {
        if (name != null) {
            mine.surrender(name.value());
            has.remove(name);
            model.saw("surrender");
        }
    }

    private void unlock(LockTransaction mine, @Nullable LockName name) {
        if (name == null) {
            return;
        }
        // Those who hear of that hear it within the call.
        LockMode before = wants.remove(name);
        has.remove(name);
        givenUp.merge(name, 1, Integer::sum);
        try {
            mine.unlock(name.value());
        } catch (IllegalStateException e) {
            if (!String.valueOf(e.getMessage()).contains(SimRuntime.NOBODY_WAITS)) {
                want(name, before == null ? LockMode.SHARED : before);
                if (isTold(mine, name)) {
                    has.put(name, LockMode.SHARED);
                }
                throw e;
            }
        }
        model.saw("unlock");
    }

    private static boolean isTold(LockTransaction mine, LockName name) {
        try {
            return !mine.tokens(name.value()).isEmpty();
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** An administrator ends one of its grants. */
    private void breakOne(LockTransaction mine) {
        List<LockName> grants = new ArrayList<>(TransactionTwin.believed(mine).keySet());
        if (!grants.isEmpty()) {
            LockName name = grants.get(random.nextInt(grants.size()));
            long token = TransactionTwin.token(mine, name);
            client.unwrap(LockEngine.class)
                    .breakGrant(
                            LockKey.lock(name),
                            token,
                            "drawn",
                            Duration.ofNanos(model.world.options().maxTtl()));
            model.saw("break");
        }
    }

    // What must be so

    private boolean isHeld(LockTransaction mine, LockName name, LockMode mode) {
        Map<LockName, LockMode> has = TransactionTwin.believed(mine);
        long held =
                parts(name).stream().filter(part -> isPartHeld(has, part, mode)).count();
        return held >= (overNodes ? model.nodes(name).needed() : 1);
    }

    private boolean isPartHeld(Map<LockName, LockMode> has, LockName part, LockMode mode) {
        if (!trees) {
            return has.get(part) == LockMode.EXCLUSIVE || has.get(part) == mode;
        }
        return TreeModes.levels(part).stream().allMatch(level -> {
            LockMode held = has.get(level);
            return held != null
                    && TreeModes.covers(held, level.equals(part) ? TreeModes.own(mode) : TreeModes.above(mode));
        });
    }

    /** Itself, or what it may have at the nodes. */
    private List<LockName> parts(LockName lock) {
        return overNodes
                ? model.nodes(lock).nodes().stream()
                        .map(node -> NodeParts.part(lock, node))
                        .toList()
                : List.of(lock);
    }

    /** After each event of its client. */
    void judge() {
        LockTransaction mine = transaction;
        if (mine == null) {
            return;
        }
        Status status = mine.status();
        if (status == Status.LOST) {
            ensure(!model.calm || model.breaks, "%s is lost, and nothing is broken", this);
            has.clear();
        } else if (status == Status.HELD || status == Status.NO_LOCKS) {
            wants.forEach((name, mode) -> {
                ensure(isHeld(mine, name, mode), "%s says %s, and does not have %s %s", this, status, name, mode);
                has.merge(name, mode, TransactionUser::stronger);
            });
            mine.ensureHeld();
        }
    }

    /** It has had time to give back what nobody wants. */
    private void hasNothingMore() {
        LockTransaction mine = transaction;
        if (mine == null || isOver() || calls > 0 || mine.status() == Status.FAILED) {
            return;
        }
        if (mine.status() == Status.WAITING) {
            model.saw("looked at while it waits");
            ensure(
                    wants.entrySet().stream().anyMatch(each -> !isHeld(mine, each.getKey(), each.getValue())),
                    "%s waits after a while, and nobody wants anything more",
                    this);
            waitsForSomebody(mine);
            return;
        }
        model.saw("looked at");
        if (overNodes && has.keySet().stream().anyMatch(lock -> isEverywhere(mine, lock))) {
            model.saw("a spare part");
        }
        TransactionTwin.believed(mine)
                .forEach((grant, mode) -> ensure(
                        isNeeded(grant, mode),
                        "%s has %s %s after a while, and needs %s",
                        this,
                        grant,
                        mode,
                        needs(grant)));
    }

    /** If nothing has happened to anybody for a while, what it lacks excludes what another one has or wants. */
    private void waitsForSomebody(LockTransaction mine) {
        List<TransactionUser> all = model.users();
        long since = model.world.now() - quiet();
        if (overNodes
                || model.names == TransactionModel.Names.MIXED
                || all.stream().anyMatch(each -> each.changedAt > since)) {
            return;
        }
        Map<LockName, LockMode> lacks = new LinkedHashMap<>(wants);
        lacks.entrySet().removeIf(each -> isHeld(mine, each.getKey(), each.getValue()));
        model.saw("waits for somebody");
        ensure(
                all.stream().anyMatch(other -> other != this && excludes(lacks, other.wants)),
                "%s waits for %s, and nobody is in its way: %s",
                this,
                lacks,
                all);
    }

    private boolean excludes(Map<LockName, LockMode> some, Map<LockName, LockMode> others) {
        return some.entrySet().stream()
                .anyMatch(mine -> others.entrySet().stream()
                        .anyMatch(its -> meet(mine.getKey(), its.getKey())
                                && (mine.getValue() == LockMode.EXCLUSIVE || its.getValue() == LockMode.EXCLUSIVE)));
    }

    private boolean meet(LockName one, LockName other) {
        return one.equals(other) || (trees && (TreeModes.isAtOrAbove(one, other) || TreeModes.isAtOrAbove(other, one)));
    }

    /** Whether it has that lock at a node more than it needs. */
    private boolean isEverywhere(LockTransaction mine, LockName lock) {
        return model.nodes(lock).needed() < model.nodes(lock).nodes().size()
                && TransactionTwin.believed(mine).keySet().containsAll(parts(lock));
    }

    private boolean isNeeded(LockName grant, LockMode mode) {
        LockMode needs = needs(grant);
        // A level at a node that it can do without may serve one of the locks that have it alone.
        return (overNodes && trees) ? needs != null && TreeModes.covers(needs, mode) : needs == mode;
    }

    private @Nullable LockMode needs(LockName grant) {
        LockMode needs = null;
        for (Map.Entry<LockName, LockMode> each : wants.entrySet()) {
            LockMode own = null;
            List<LockName> parts = parts(each.getKey());
            if (parts.contains(grant)) {
                own = trees ? TreeModes.own(each.getValue()) : each.getValue();
            } else if (trees && parts.stream().anyMatch(part -> TreeModes.isAtOrAbove(grant, part))) {
                own = TreeModes.above(each.getValue());
            }
            needs = own == null ? needs : needs == null ? own : TreeModes.join(needs, own);
        }
        return needs;
    }

    /** Whether a call returned that lock to its user, in any mode, and it is believed. */
    boolean knowsThatItHas(LockName lock) {
        LockMode mode = has.get(lock);
        LockTransaction mine = transaction;
        return mode != null && mine != null && !node.paused() && !isLost() && isHeld(mine, lock, mode);
    }

    /** Nobody has what another one knows that it has. */
    void ensureBeside(TransactionUser other) {
        if (has.isEmpty() || other.has.isEmpty() || node.paused() || other.node.paused()) {
            return;
        }
        if (isLost() || other.isLost()) {
            return;
        }
        for (Map.Entry<LockName, LockMode> mine : has.entrySet()) {
            for (Map.Entry<LockName, LockMode> its : other.has.entrySet()) {
                boolean meet = mine.getKey().equals(its.getKey()) || (other.trees && meet(mine.getKey(), its.getKey()));
                boolean writes = mine.getValue() == LockMode.EXCLUSIVE || its.getValue() == LockMode.EXCLUSIVE;
                if (meet && writes && believes(mine) && other.believes(its)) {
                    throw new Violation(
                            "R1",
                            this + " knows that it has " + mine + " by " + tokens() + ", and " + other + " " + its
                                    + " by " + other.tokens());
                }
            }
        }
    }

    /** Whether that is believed at this moment; where nothing breaks what was returned is. */
    private boolean believes(Map.Entry<LockName, LockMode> lock) {
        LockTransaction mine = transaction;
        boolean believes = mine != null && isHeld(mine, lock.getKey(), lock.getValue());
        ensure(believes || !model.calm || model.breaks, "%s knows that it has %s, and it is gone", this, lock);
        return believes;
    }

    /** Its grants and their tokens. */
    private Map<LockName, Long> tokens() {
        Map<LockName, Long> tokens = new LinkedHashMap<>();
        LockTransaction mine = transaction;
        if (mine != null) {
            TransactionTwin.believed(mine)
                    .keySet()
                    .forEach(grant -> tokens.put(grant, TransactionTwin.token(mine, grant)));
        }
        return tokens;
    }

    private boolean isLost() {
        LockTransaction mine = transaction;
        return mine == null || mine.status() == Status.LOST || mine.status() == Status.CLOSED;
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
    private void ensure(boolean holds, String what, Object... of) {
        if (!holds) {
            throw new Violation("R10", String.format(what, of));
        }
    }

    @Override
    public String toString() {
        LockTransaction mine = transaction;
        return node + "." + index + (mine == null ? "" : " " + mine.status() + " has " + has + " wants " + wants);
    }
}
