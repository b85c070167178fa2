// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.Probe.Edge;
import io.keyway.lock.spi.Probe.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one transaction: it knows what the transaction holds and waits for, finds the deadlocks that it is in,
 * and decides whether it has to give way. Pure: time and events come in, {@link AgentEffects} go out.
 *
 * <p><b>A lock of the transaction</b> is <i>wanted</i> (a request is at the authority), <i>held</i> (granted, and the
 * user has not been told), or <i>reported</i> (the user may have been told that it is held, and works under it). One
 * that is reported in mode SHARED may be wanted EXCLUSIVE at the same time: the upgrade. As soon as nothing is wanted
 * all that is held is reported, and what a call returns alone is before, each in the same step; so nothing that a user
 * may rely on is ever surrendered.
 *
 * <p><b>Edges.</b> Transaction A waits for B if the grant of a lock to B is in the way of a request of A; or, where no
 * grant is, a request of B before it. The authority of the lock knows them, and passes a probe of A on to whom A waits
 * for, along the edges as they are when it passes.
 *
 * <p><b>Search.</b> An agent that waits and holds something sends a SEARCH along its edges when it begins to wait, and
 * again from time to time. Whoever gets it while it waits itself writes the edge down, passes it on along its own
 * edges, once for each round, and drops it if it ranks above the initiator: that one searches for itself, at once, also
 * if it holds nothing. A search that comes back to its initiator is a cycle, with all its edges, in which the initiator
 * ranks highest of all. It is the victim; nobody else can think so. A cycle of which nobody holds anything is not
 * searched for: none of it moves before somebody outside lets go, and is granted something then.
 *
 * <p><b>Rank.</b> Who has the lower priority ranks above; of equal ones who has given way less often, by the number of
 * binary digits of how often; then the one with the higher number of client and of transaction. So nobody is the victim
 * of equals who has given way more than twice as often, and once more, than any other in the cycle. By the plain number
 * all would give way in turn and forever; digits change at 1, 2, 4, 8 and so on.
 *
 * <p><b>It ends.</b> Say that no rank changes and nobody is done, while others hold for as long as they like. Who gives
 * way is in the way of somebody who ranks below it, and is behind that one for this lock until that one gives it up. So
 * the lowest never gives way; the next one at most once for each lock; and each further one at most once for each lock
 * and each time that one below it has given way. That is a number, and ranks change ever more rarely: in the end all
 * circles are gone.
 *
 * <p><b>Confirmation.</b> Edges may have gone by the time the search is back: somebody gave up, or let go. So the
 * victim sends a CONFIRM the same way. Requests and grants have numbers that are never used again, and a request that
 * has ceased to wait never waits again; hence an edge that was there when the search passed and is there when the
 * confirmation passes was there all the time between, and at the instant between both all edges were: a cycle. Only
 * then the victim acts. Whoever of the cycle waits for k of n nodes and has one left that it has not asked does not
 * confirm it, but asks that one.
 *
 * <p><b>Giving way.</b> The victim <i>surrenders</i> that by which it is in the way of the one before it on the cycle.
 * A lock that is held and not reported goes back by its token, a request that waits is withdrawn; and a new request is
 * at the end of the queue. What is reported, or being upgraded, is not surrendered: then, or if the user prefers so,
 * the transaction is <i>aborted</i>: it wants nothing any more and keeps what it holds until it is closed. Who gave way
 * is told along the cycle, for people.
 *
 * <p><b>Invariants.</b> What is reported stays so until the user or the authority ends it. Each surrender and abort has
 * a cycle that stood. An agent that wants nothing passes nothing on. No decision rests on what was remembered: a probe
 * is all there is, whatever was restarted; what is lost is searched for again. So a cycle of n that stands is found by
 * its victim within two ways around it after the next search.
 */
public final class Agent {
    /** Between two searches of one agent at the least, in nanoseconds: what asks for one earlier is answered by it. */
    static final long SHORTEST = 1_000_000;

    /** Between two searches while nothing changes: from the one, doubling, to the other. */
    static final long FIRST_RESEND = 20_000_000;

    /** At the most. */
    public static final long LAST_RESEND = 500_000_000;

    /** So many others are remembered whose searches passed here; of who was forgotten nothing is confirmed. */
    private static final int PASSED = 4096;

    /** So many deadlocks are remembered, for people. */
    private static final int REMEMBERED = 100;

    /** What the transaction has to do with one lock. */
    private static final class Claim {
        /** In which mode it is held; null if it is not. */
        @Nullable
        LockMode held;

        long token;
        boolean reported;
        /** In which mode it is wanted; null if it is not. */
        @Nullable
        LockMode wanted;

        long request;
        long since;
        /** Whether the transaction may go on without what is wanted. */
        boolean spare;
        /** The first search that may follow what is wanted, since the transaction needs it. */
        long firmFrom;
        /** By others, their last search that had passed here when the transaction began to need it. */
        Map<Probe.Agent, Long> before = Map.of();

        Claim copy() {
            Claim copy = new Claim();
            copy.held = held;
            copy.token = token;
            copy.reported = reported;
            copy.wanted = wanted;
            copy.request = request;
            copy.since = since;
            copy.spare = spare;
            copy.firmFrom = firmFrom;
            copy.before = before;
            return copy;
        }
    }

    private final Probe.Agent self;
    private final String owner;
    private final AgentEffects effects;
    private OnDeadlock onDeadlock;
    private int priority;

    private final Map<LockName, Claim> claims = new LinkedHashMap<>();
    /** By others, the round of their last search that passed; who has not searched for longest is the first. */
    private final Map<Probe.Agent, Long> passed = new LinkedHashMap<>();

    private final List<Deadlock> deadlocks = new ArrayList<>();
    /** How many requests it needs, those that it can do without not counted. */
    private int needs;

    private boolean unfinished;
    private int age;
    private long round;
    private boolean ended;
    /**
     * Whether it owes others a search, whatever it holds: one that ranks below has searched here since its last one, or
     * it ranks lower than when it dropped what others searched.
     */
    private boolean sought;

    private boolean searched;
    private long searchedAt;
    private long resend = FIRST_RESEND;

    /**
     * An agent that wants nothing.
     *
     * @param self who it is
     * @param owner the name of its client, for people
     * @param age how often its work has given way before
     */
    public Agent(Probe.Agent self, String owner, int age, OnDeadlock onDeadlock, AgentEffects effects) {
        this.self = self;
        this.owner = owner;
        this.age = age;
        this.onDeadlock = onDeadlock;
        this.effects = effects;
    }

    // What the user does

    /** The user changes how it behaves; its age too. It may be the victim now of a cycle that stands. */
    public void behave(OnDeadlock answer, int newPriority, int newAge, long now) {
        onDeadlock = answer;
        if (newPriority != priority || newAge != age) {
            priority = newPriority;
            age = newAge;
            sought = true;
            searchSoon(now);
        }
    }

    /**
     * The user gives up a lock that is held, reported or not, or the place of a request, and wants it again behind all
     * who wait. One that is being upgraded stays.
     */
    public void surrender(LockName name, long now) {
        Claim claim = claims.get(name);
        if (claim != null && (claim.held == null || claim.wanted == null)) {
            giveUp(name, claim, now);
        }
    }

    /** The user asks for a lock that is not wanted: a new one, or EXCLUSIVE for what is held SHARED. */
    public void asked(LockName name, LockMode mode, long request, long now) {
        Claim claim = claims.computeIfAbsent(name, fresh -> new Claim());
        claim.since = now;
        want(claim, mode, request);
    }

    /**
     * The transaction may go on without what it wants there, or needs it by now. A probe that has passed before that
     * says nothing of what it needs from then on.
     */
    public void spare(LockName name, boolean spare, long now) {
        Claim claim = claims.get(name);
        if (claim != null && claim.wanted != null && claim.spare != spare) {
            claim.spare = spare;
            needs += spare ? -1 : 1;
            claim.firmFrom = round + 1;
            claim.before = Map.copyOf(passed);
            if (!spare) {
                // Who needs nothing does not search, and has set no time for the next one.
                resend = FIRST_RESEND;
                effects.wakeAt(now + resend);
            }
        }
    }

    private void want(Claim claim, LockMode mode, long request) {
        claim.spare = false;
        claim.firmFrom = 0;
        claim.before = Map.of();
        claim.wanted = mode;
        claim.request = request;
        needs++;
        resend = FIRST_RESEND;
    }

    /** The request was sent, and not granted at once: whether it has to wait the authority will tell, or time. */
    public void sent(LockName name, long request, long now) {
        Claim claim = claims.get(name);
        if (claim != null && isWanted(claim, request)) {
            effects.wakeAt(now + resend);
        }
    }

    /** That request is over without a grant: the user gave it up, or it failed. */
    public void gone(LockName name, long request) {
        Claim claim = claims.get(name);
        if (claim != null && isWanted(claim, request)) {
            wantNoMore(name, claim);
            report();
        }
    }

    private void wantNoMore(LockName name, Claim claim) {
        claim.wanted = null;
        needs -= claim.spare ? 0 : 1;
        if (claim.held == null) {
            claims.remove(name);
        }
    }

    /** What is held, and not wanted in another mode, is held in that one; if weaker, nobody waits for it. */
    public void holdsIn(LockName name, LockMode mode) {
        Claim claim = claims.get(name);
        if (claim != null && claim.held != null) {
            claim.held = mode;
        }
    }

    /** That lock, which is held, has another token. */
    public void renamed(LockName name, long token) {
        Claim claim = claims.get(name);
        if (claim != null && claim.held != null) {
            claim.token = token;
        }
    }

    /** The user gives that lock back, or it is lost; what is wanted of it is to be over before. */
    public void released(LockName name) {
        Claim claim = claims.get(name);
        if (claim != null && claim.wanted == null) {
            claims.remove(name);
        }
    }

    /**
     * That lock is lost, and the user has not been told that it was held: it is asked for again, in that mode. False if
     * the user may rely on it.
     */
    public boolean lostUnreported(LockName name, long token, LockMode mode, long now) {
        Claim claim = claims.get(name);
        if (ended || claim == null || claim.held == null || claim.token != token || claim.reported) {
            return false;
        }
        askAgain(name, claim, mode, now);
        return true;
    }

    /** The transaction wants nothing any more. */
    public void end() {
        ended = true;
        for (LockName name : List.copyOf(claims.keySet())) {
            Claim claim = claims.get(name);
            if (claim != null && claim.wanted != null) {
                wantNoMore(name, claim);
            }
        }
        passed.clear();
    }

    /**
     * More is to be asked for before all is held, as the next level of a tree, which is not asked for before the one
     * above is granted; or that is no longer so.
     */
    public void unfinished(boolean more) {
        unfinished = more;
        report();
    }

    // What the authority says

    /** The request is granted; false if nobody wants it any more. Who waits for that lock waits for this one now. */
    public boolean granted(LockName name, long request, long token, long now) {
        Claim claim = claims.get(name);
        if (claim == null || !isWanted(claim, request)) {
            return false;
        }
        claim.reported &= claim.held != null;
        claim.held = claim.wanted;
        claim.token = token;
        claim.wanted = null;
        needs -= claim.spare ? 0 : 1;
        report();
        searchSoon(now);
        return true;
    }

    /** The user learns that this lock is held, also while others are wanted. */
    public void report(LockName name) {
        Claim claim = claims.get(name);
        if (claim != null) {
            claim.reported = claim.held != null;
        }
    }

    /** All that was asked for is held: from now on the user may be told so. */
    private void report() {
        if (isComplete()) {
            claims.values().forEach(claim -> claim.reported = true);
            passed.clear();
            searched = false;
            sought = false;
        }
    }

    /** The authority says that the request has to wait. */
    public void waits(LockName name, long request, long now) {
        Claim claim = claims.get(name);
        if (claim != null && isWanted(claim, request)) {
            resend = FIRST_RESEND;
            searchSoon(now);
        }
    }

    // Searching

    /** The time has come that was asked for. */
    public void due(long now) {
        if (mayBeInACycle()) {
            search(now);
        }
    }

    /** In each cycle over a lock that somebody holds there is one who holds something, and one whom its search asks. */
    private boolean mayBeInACycle() {
        if (!ended && needs > 0) {
            if (sought) {
                return true;
            }
            for (Claim claim : claims.values()) {
                if (claim.held != null) {
                    return true;
                }
            }
        }
        return false;
    }

    private void searchSoon(long now) {
        if (!mayBeInACycle()) {
            return;
        }
        if (!searched || now - searchedAt >= SHORTEST) {
            search(now);
        } else {
            effects.wakeAt(searchedAt + SHORTEST);
        }
    }

    private void search(long now) {
        round++;
        searched = true;
        sought = false;
        searchedAt = now;
        effects.wakeAt(now + resend);
        resend = Math.min(LAST_RESEND, 2 * resend);
        for (Map.Entry<LockName, Claim> each : List.copyOf(claims.entrySet())) {
            if (each.getValue().wanted != null && !each.getValue().spare) {
                Edge first = edge(each.getKey(), each.getValue(), now);
                effects.probe(
                        first.lock(),
                        first.request(),
                        new Probe(Kind.SEARCH, self, priority, age, round, 0, List.of(first)));
            }
        }
    }

    private Edge edge(LockName name, Claim claim, long now) {
        return new Edge(self, owner, name, claim.request, Math.max(0, now - claim.since), 0, 0);
    }

    /**
     * A probe came, along an edge that leads here: {@code token} of that lock is in use by this transaction, or it has
     * the request {@code ahead} for it. The other one is 0.
     */
    public void probed(LockName lock, long token, long ahead, Probe probe, long now) {
        Claim claim = claims.get(lock);
        Edge edge = probe.edge();
        if (claim == null || !edge.lock().equals(lock)) {
            return;
        }
        boolean leadsHere = token != 0
                ? claim.held != null && claim.token == token
                : claim.wanted != null && claim.request == ahead;
        if (!leadsHere) {
            return;
        }
        switch (probe.kind()) {
            case SEARCH -> searched(edge.to(token, ahead), probe, now);
            case CONFIRM -> confirmed(claim, token, ahead, probe, now);
            default -> resolved(token, ahead, probe);
        }
    }

    private void searched(Edge edge, Probe probe, long now) {
        if (probe.initiator().equals(self)) {
            if (isCurrent(probe) && !passesOver(probe.path().get(0))) {
                probe(probe.arrived(edge).on(Kind.CONFIRM, 0));
            }
            return;
        }
        if (ended || needs == 0) {
            return;
        }
        if (ranksAbove(probe)) {
            sought = true;
            searchSoon(now);
            return;
        }
        Long known = passed.get(probe.initiator());
        if ((known != null && known >= probe.round()) || probe.path().size() >= Probe.MAX_EDGES || isOn(probe)) {
            return;
        }
        passed.remove(probe.initiator());
        passed.put(probe.initiator(), probe.round());
        if (passed.size() > PASSED) {
            passed.remove(passed.keySet().iterator().next());
        }
        Probe here = probe.arrived(edge);
        for (Map.Entry<LockName, Claim> each : List.copyOf(claims.entrySet())) {
            if (each.getValue().wanted != null && !each.getValue().spare) {
                Edge next = edge(each.getKey(), each.getValue(), now);
                effects.probe(next.lock(), next.request(), here.along(next));
            }
        }
    }

    private boolean isOn(Probe probe) {
        for (Edge edge : probe.path()) {
            if (edge.waiter().equals(self)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this is the victim rather than the initiator. */
    private boolean ranksAbove(Probe probe) {
        if (priority != probe.priority()) {
            return priority < probe.priority();
        }
        if (doublings(age) != doublings(probe.age())) {
            return doublings(age) < doublings(probe.age());
        }
        Probe.Agent other = probe.initiator();
        return self.client() != other.client() ? self.client() > other.client() : self.number() > other.number();
    }

    /** The binary digits of that number. */
    static int doublings(int age) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(age);
    }

    /** Who has aged since, or was given another priority, has another rank. */
    private boolean isCurrent(Probe probe) {
        return !ended
                && probe.priority() == priority
                && probe.age() == age
                && wants(probe.path().get(0))
                && probe.round() >= firmFrom(probe.path().get(0));
    }

    private boolean wants(Edge own) {
        Claim claim = claims.get(own.lock());
        return claim != null && own.waiter().equals(self) && isWanted(claim, own.request()) && !claim.spare;
    }

    private long firmFrom(Edge own) {
        Claim claim = claims.get(own.lock());
        return claim == null ? 0 : claim.firmFrom;
    }

    /** Whether that search passed here, and what is wanted there has been needed all the time since. */
    private boolean hasBeenFirm(Edge own, Probe probe) {
        Claim claim = claims.get(own.lock());
        return claim != null
                && passed.getOrDefault(probe.initiator(), 0L) >= probe.round()
                && probe.round() > claim.before.getOrDefault(probe.initiator(), 0L);
    }

    /** Whether it goes on by another node than the one of that edge: then nobody has to give way for it. */
    private boolean passesOver(Edge own) {
        return effects.passOver(own.lock());
    }

    private static boolean isWanted(Claim claim, long request) {
        return claim.wanted != null && claim.request == request;
    }

    /** Sends it along the edge that it is on. */
    private void probe(Probe probe) {
        effects.probe(probe.edge().lock(), probe.edge().request(), probe);
    }

    // A cycle

    private void confirmed(Claim claim, long token, long ahead, Probe probe, long now) {
        if (!isTheEdge(token, ahead, probe)) {
            return;
        }
        boolean last = probe.step() == probe.path().size() - 1;
        if (last) {
            if (probe.initiator().equals(self) && isCurrent(probe)) {
                giveWay(claim, token != 0, probe, now);
            }
        } else if (!ended
                && wants(probe.path().get(probe.step() + 1))
                && hasBeenFirm(probe.path().get(probe.step() + 1), probe)
                && !ranksAbove(probe)
                && !passesOver(probe.path().get(probe.step() + 1))) {
            probe(probe.on(Kind.CONFIRM, probe.step() + 1));
        }
    }

    private static boolean isTheEdge(long token, long ahead, Probe probe) {
        return probe.edge().token() == token && probe.edge().ahead() == ahead;
    }

    private void giveWay(Claim claim, boolean byGrant, Probe cycle, long now) {
        boolean may = byGrant ? !claim.reported && claim.wanted == null : claim.held == null;
        boolean surrenders = may && onDeadlock == OnDeadlock.SURRENDER;
        Kind kind = surrenders ? Kind.SURRENDERED : Kind.ABORTED;
        Deadlock deadlock = deadlock(cycle, kind);
        remember(deadlock);
        probe(cycle.on(kind, 0));
        age++;
        LockName name = cycle.path().get(cycle.path().size() - 1).lock();
        if (surrenders) {
            sought = true;
            giveUp(name, claim, now);
        } else {
            end();
            effects.abort(deadlock);
        }
    }

    /** The authority refused an upgrade, since another reader waits for one: each would wait for the other forever. */
    public void abortForUpgrade(Deadlock deadlock) {
        remember(deadlock);
        age++;
        end();
        effects.abort(deadlock);
    }

    /** A lock that is held goes back, or a request is withdrawn; and it is asked for again. */
    private void giveUp(LockName name, Claim claim, long now) {
        LockMode held = claim.held;
        if (held != null) {
            effects.release(name, claim.token);
            askAgain(name, claim, held, now);
            return;
        }
        effects.withdraw(name, claim.request);
        claim.request = effects.nextRequest();
        claim.since = now;
        resend = FIRST_RESEND;
        effects.ask(name, Objects.requireNonNull(claim.wanted), claim.request);
    }

    private void askAgain(LockName name, Claim claim, LockMode mode, long now) {
        claim.held = null;
        claim.reported = false;
        want(claim, mode, effects.nextRequest());
        claim.since = now;
        effects.ask(name, mode, claim.request);
    }

    /** Somebody on the way gave way. */
    private void resolved(long token, long ahead, Probe probe) {
        boolean last = probe.step() == probe.path().size() - 1;
        if (last || !isTheEdge(token, ahead, probe)) {
            return;
        }
        Edge next = probe.path().get(probe.step() + 1);
        if (next.waiter().equals(self)) {
            remember(deadlock(probe, probe.kind()));
            if (wants(next)) {
                probe(probe.on(probe.kind(), probe.step() + 1));
            }
        }
    }

    private void remember(Deadlock deadlock) {
        if (deadlocks.size() == REMEMBERED) {
            deadlocks.remove(0);
        }
        deadlocks.add(deadlock);
    }

    private static Deadlock deadlock(Probe cycle, Kind kind) {
        List<Deadlock.Waiter> waiters = new ArrayList<>();
        for (Edge edge : cycle.path()) {
            waiters.add(new Deadlock.Waiter(
                    edge.owner(), shown(edge.waiter()), edge.lock(), Duration.ofNanos(edge.waitedNanos())));
        }
        return new Deadlock(
                waiters,
                cycle.path().get(cycle.path().size() - 1).lock(),
                kind == Kind.SURRENDERED ? Deadlock.Way.SURRENDERED : Deadlock.Way.ABORTED);
    }

    /** What people call that transaction. */
    public static String shown(Probe.Agent agent) {
        return Long.toHexString(agent.client()) + "-" + agent.number();
    }

    // For searches of all states

    /** One that does from now on what this one would, with other effects, and takes nothing from it. */
    Agent copy(AgentEffects into) {
        Agent copy = new Agent(self, owner, age, onDeadlock, into);
        claims.forEach((name, claim) -> copy.claims.put(name, claim.copy()));
        copy.passed.putAll(passed);
        copy.deadlocks.addAll(deadlocks);
        copy.priority = priority;
        copy.needs = needs;
        copy.unfinished = unfinished;
        copy.round = round;
        copy.ended = ended;
        copy.sought = sought;
        copy.searched = searched;
        copy.searchedAt = searchedAt;
        copy.resend = resend;
        return copy;
    }

    /** So much time has passed for it. */
    void older(long nanos) {
        searchedAt -= nanos;
    }

    /** What it goes by, but for when something happened: that of equal agents is equal. */
    List<Object> state(long now) {
        List<Object> state = new ArrayList<>();
        claims.forEach((name, claim) -> {
            state.add(name.toString());
            state.add(String.valueOf(claim.held));
            state.add(claim.held == null ? 0L : claim.token);
            state.add(claim.reported);
            state.add(String.valueOf(claim.wanted));
            state.add(claim.wanted == null ? 0L : claim.request);
            state.add(claim.spare);
        });
        passed.entrySet().stream()
                .sorted(Comparator.comparing(each -> shown(each.getKey())))
                .forEach(each -> {
                    state.add(shown(each.getKey()));
                    state.add(each.getValue());
                });
        state.add(priority);
        state.add(age);
        state.add(round);
        state.add(unfinished);
        state.add(ended);
        state.add(sought);
        state.add(searched && now - searchedAt < SHORTEST);
        return state;
    }

    // What it knows

    /** Whether nothing is needed: what is wanted, if anything, it can do without. */
    public boolean isComplete() {
        return needs == 0 && !unfinished;
    }

    /** What it does when it has to give way. */
    public OnDeadlock onDeadlock() {
        return onDeadlock;
    }

    /** Its priority. */
    public int priority() {
        return priority;
    }

    /** How often its work has given way. */
    public int age() {
        return age;
    }

    /** The locks that are wanted, in the order in which they were asked for first. */
    public Collection<LockName> wanted() {
        List<LockName> names = new ArrayList<>();
        claims.forEach((name, claim) -> {
            if (claim.wanted != null) {
                names.add(name);
            }
        });
        return names;
    }

    /** Since when that lock is wanted, by the clock that the events are stated on; 0 if it is not. */
    public long wantedSince(LockName name) {
        Claim claim = claims.get(name);
        return claim == null || claim.wanted == null ? 0 : claim.since;
    }

    /** The mode in which that lock is wanted, or, if it is not, held; null if it is neither. */
    public @Nullable LockMode mode(LockName name) {
        Claim claim = claims.get(name);
        return claim == null ? null : claim.wanted != null ? claim.wanted : claim.held;
    }

    /** Whether it is held; reported or not. */
    public boolean holds(LockName name) {
        Claim claim = claims.get(name);
        return claim != null && claim.held != null;
    }

    /** Whether it is held, and the user may have been told so. */
    public boolean isReported(LockName name) {
        Claim claim = claims.get(name);
        return claim != null && claim.held != null && claim.reported;
    }

    /** Whether it is wanted. */
    public boolean wants(LockName name) {
        Claim claim = claims.get(name);
        return claim != null && claim.wanted != null;
    }

    /** Whether it is wanted, and the transaction may go on without it. */
    public boolean isSpare(LockName name) {
        Claim claim = claims.get(name);
        return claim != null && claim.wanted != null && claim.spare;
    }

    /** Whether it holds and wants nothing. */
    public boolean isEmpty() {
        return claims.isEmpty();
    }

    /** The last deadlocks that it was in, as far as it heard: in order. */
    public List<Deadlock> deadlocks() {
        return List.copyOf(deadlocks);
    }
}
