// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One lock at one member, towards the clients that are attached to that member: the sessions of those who ask and of
 * those who hold. Whose turn it is among all members says the coordinator, another machine of the same cell, which
 * belongs to an algorithm.
 *
 * <p><b>States of a request.</b> <i>Waiting</i>: the coordinator has it. <i>Its turn</i>: that has given it the lock,
 * and its client was not heard lately, so that a grant would be dead on arrival; it is granted when the client is
 * heard, and over when its session is. <i>Held</i>: granted to the session; by several at a time where the coordinator
 * has readers, who hold beside each other. <i>Claimed</i>: a
 * client says that it holds what a former life of this member granted, and the coordinator has not said whether that
 * stands.
 *
 * <p><b>Messages</b> of clients, as of the lease service, but for RECALL: nothing is cached. ACQUIRE is answered by
 * GRANTED, NOT_GRANTED or BLOCKED, and PLACE while it waits; WITHDRAW and RELEASE end what they name; REVOKE tells of
 * an expiry or a break; REASSERT is answered by REASSERTED or REVOKE; SHOW and BREAK go to the coordinator.
 *
 * <p><b>Invariants.</b> Each request that the coordinator has is waiting or held here, and is taken back from it when
 * it is over, by whichever way: the client's word, the end of its session, the expiry of its lease, or impatience. A
 * request that does not wait ends at the latest when its patience does, and says who was silent. A grant is bound to
 * its session and ends by a message that names its token, by the word of the sessions, or by that of the coordinator.
 */
public final class HomeManager implements Machine {
    private static final int PATIENCE = 0;

    /** A request that waits, or that has its turn. */
    private static final class Wait {
        final Peer peer;
        final LockMessage.Acquire request;
        final long since;
        final long until;
        /** The token of its turn; 0 before. */
        long token;
        /** The members that its client knows to be silent. */
        List<String> silent = List.of();
        /** Its client knows that this member grants nothing yet. */
        boolean keptOut;
        /** Its place; null as long as that is not known. */
        HomeCall.@Nullable Placed place;

        Wait(Peer peer, LockMessage.Acquire request, long since, long until) {
            this.peer = peer;
            this.request = request;
            this.since = since;
            this.until = until;
        }

        Wait copy() {
            Wait copy = new Wait(peer, request, since, until);
            copy.token = token;
            copy.silent = silent;
            copy.keptOut = keptOut;
            copy.place = place;
            return copy;
        }
    }

    /**
     * A grant.
     *
     * @param since of a reader's, when it was made; {@link Turn#NEVER} of others
     */
    record Held(long number, Peer peer, long request, LockMode mode, long token, long ttl, long since) {
        void encode(StateEncoder out) {
            out.put(number)
                    .put(peer)
                    .put(request)
                    .value(mode)
                    .put(token)
                    .put(ttl)
                    .time(since);
        }
    }

    /** A request as its client names it. */
    private record Id(Peer peer, long request) {}

    private record Claim(Peer peer, LockMessage.Reassert said) {}

    private final Key key;
    private final Key coordinator;
    private final LockSettings settings;
    private final boolean hasReaders;
    /** By the numbers that the coordinator knows, in the order in which they came. */
    private final TreeMap<Long, Wait> waits = new TreeMap<>();
    /** Those of them that do not wait. */
    private final TreeMap<Long, Wait> asks = new TreeMap<>();

    private final Map<Id, Long> numberOf = new LinkedHashMap<>();
    private final TreeMap<Long, Claim> claims = new TreeMap<>();
    /** The grants, by their tokens. */
    private final TreeMap<Long, Held> held = new TreeMap<>();
    /** The tokens of those whose clients are told that they are lost. */
    private final Set<Long> revoked = new TreeSet<>();
    /** By token, the breaks that wait for the end of a grant, by the numbers of the coordinator. */
    private final TreeMap<Long, List<Long>> breaks = new TreeMap<>();
    /** The requests whose turn it is. */
    private final TreeSet<Long> turns = new TreeSet<>();

    private long numbers;

    /**
     * @param key of the lock
     * @param coordinator the machine of the same cell that says whose turn it is
     * @param hasReaders whether the coordinator knows readers, and soft writers beside them
     */
    public HomeManager(Key key, Key coordinator, LockSettings settings, boolean hasReaders) {
        this.key = key;
        this.coordinator = coordinator;
        this.settings = settings;
        this.hasReaders = hasReaders;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Acquire acquire) {
            acquire(from, acquire, turn);
        } else if (message instanceof LockMessage.Release release) {
            end(current(from, release.token()), false, turn);
        } else if (message instanceof LockMessage.Withdraw withdraw) {
            withdraw(from, withdraw.request(), turn);
        } else if (message instanceof LockMessage.Revoked revoked) {
            revoked(from, revoked, turn);
        } else if (message instanceof LockMessage.Reassert claim) {
            claimed(from, claim, turn);
        } else if (message instanceof LockMessage.Show show) {
            tell(new HomeCall.Show(key.id(), from, show.request()), turn);
        } else if (message instanceof LockMessage.Watch watch) {
            turn.send(from, new LockMessage.Changed(key, watch.request(), LockMessage.Changed.UNTOLD));
        } else if (message instanceof LockMessage.Break request) {
            turn.tell(new LockNotice.Alarm(key, "break of token " + request.token() + ": " + request.reason()));
            tell(new HomeCall.Break(key.id(), from, request.request(), request.token(), request.reason()), turn);
        }
        armPatience(turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof HomeCall.Yours yours) {
            turnOf(yours, turn);
        } else if (call instanceof HomeCall.Behind behind) {
            Wait wait = waits.get(behind.number());
            if (wait != null && wait.request.noWait()) {
                turn.goal(HomeGoal.REFUSED_BEHIND);
                refuse(behind.number(), wait, RefusalCause.HELD, behind.holders(), turn);
            }
        } else if (call instanceof HomeCall.Placed placed) {
            Wait wait = waits.get(placed.number());
            if (wait != null && !wait.request.noWait()) {
                wait.place = placed;
                wait.keptOut = false;
                tellPlace(wait, turn);
            }
        } else if (call instanceof HomeCall.Waiting waiting) {
            blocked(waiting, turn);
        } else if (call instanceof HomeCall.Adopted adopted) {
            adopted(adopted, turn);
        } else if (call instanceof HomeCall.BreakHere request) {
            breakHere(request, turn);
        } else if (call instanceof HomeCall.TakenBack back) {
            takenBack(back, turn);
        } else if (call instanceof HomeCall.Over over) {
            end(grantOf(over.number()), true, turn);
        } else if (call instanceof MemberView.Expired expired) {
            Held over = current(expired.peer(), expired.token());
            if (over != null) {
                turn.send(over.peer(), LockMessage.Revoke.of(key, over.token(), LeaseLoss.Cause.EXPIRED));
                turn.goal(HomeGoal.GRANT_AFTER_EXPIRY);
                end(over, true, turn);
            }
        } else if (call instanceof MemberView.SessionEnded ended) {
            sessionEnded(ended.peer(), turn);
        } else if (call instanceof MemberView.Heard || call instanceof MemberView.Opening) {
            grantTurns(turn);
        }
        armPatience(turn);
    }

    private void tell(HomeCall.OfManager call, Turn turn) {
        turn.call(coordinator, call);
    }

    // Requests

    private void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
        if (waits(from, request.request())) {
            return;
        }
        Held same = grantTo(from, request.request());
        if (same != null) {
            if (!revoked.contains(same.token())) {
                return;
            }
            end(same, true, turn); // whoever asks again has heard that this one is lost, and believes in nothing
        }
        RefusalCause never = !serves(request)
                ? RefusalCause.UNSUPPORTED
                : request.ttl() > turn.member().maxTtl()
                        ? RefusalCause.TOO_LONG
                        : waits.size() >= settings.maxWaiters() ? RefusalCause.CROWDED : null;
        if (never != null) {
            turn.send(from, new LockMessage.NotGranted(key, request.request(), never, List.of()));
            return;
        }
        long number = ++numbers;
        long waited = request.isSoft() ? 0 : Math.max(0, request.waited()); // its time without readers begins now
        long since = turn.now() - waited;
        long until = turn.now() + Math.max(0, request.patience());
        Wait wait = new Wait(from, request, since, until);
        waits.put(number, wait);
        numberOf.put(new Id(from, request.request()), number);
        if (request.noWait()) {
            asks.put(number, wait);
        }
        turn.member().await(from, key, request.ttl());
        if (turn.member().quarantined() && !request.noWait()) {
            tellKeptOut(wait, turn);
        }
        boolean wantPlace = request.wantPlace() && !request.noWait();
        LockMode mode = request.mode();
        boolean noWait = request.noWait();
        tell(
                new HomeCall.Want(key.id(), number, mode, request.quiet(), request.owner(), noWait, wantPlace, since),
                turn);
    }

    private boolean serves(LockMessage.Acquire request) {
        boolean isWriter = request.mode() == LockMode.EXCLUSIVE;
        boolean mode = request.isSoft()
                ? isWriter && hasReaders && !request.noWait()
                : isWriter || (request.mode() == LockMode.SHARED && hasReaders);
        return mode && request.atLeast() == 0 && request.converts() == 0;
    }

    private @Nullable Held grantTo(Peer peer, long request) {
        for (Held grant : held.values()) {
            if (grant.peer().equals(peer) && grant.request() == request) {
                return grant;
            }
        }
        return null;
    }

    private @Nullable Held grantOf(long number) {
        for (Held grant : held.values()) {
            if (grant.number() == number) {
                return grant;
            }
        }
        return null;
    }

    private void withdraw(Peer from, long request, Turn turn) {
        Long number = numberOf.get(new Id(from, request));
        Wait wait = number == null ? null : waits.get(number);
        if (number != null && wait != null) {
            leave(number, wait, turn);
            return;
        }
        Held grant = grantTo(from, request);
        if (grant != null) {
            turn.goal(HomeGoal.WITHDRAWN_AFTER_GRANT);
            end(grant, false, turn);
        }
    }

    private void leave(long number, Wait wait, Turn turn) {
        forget(number, wait);
        turn.member().unawait(wait.peer, key, wait.request.ttl());
        tell(new HomeCall.Leave(key.id(), number), turn);
    }

    private void forget(long number, Wait wait) {
        waits.remove(number);
        asks.remove(number);
        numberOf.remove(new Id(wait.peer, wait.request.request()));
        turns.remove(number);
    }

    private void refuse(long number, Wait wait, RefusalCause cause, List<Participant> holders, Turn turn) {
        leave(number, wait, turn);
        turn.send(wait.peer, new LockMessage.NotGranted(key, wait.request.request(), cause, holders));
    }

    /** While too few members answer, a place says nothing. */
    private void tellPlace(Wait wait, Turn turn) {
        HomeCall.Placed place = wait.place;
        if (place != null && wait.silent.isEmpty()) {
            turn.send(wait.peer, new LockMessage.Place(key, wait.request.request(), place.ahead(), place.holders()));
        }
    }

    private void tellKeptOut(Wait wait, Turn turn) {
        if (!wait.keptOut && wait.place == null) {
            wait.keptOut = true;
            String why = RefusalCause.OPENING.why();
            turn.send(wait.peer, new LockMessage.Blocked(key, wait.request.request(), false, why));
        }
    }

    /** Some members have not answered; a request that does not wait is asked about when its patience is over. */
    private void blocked(HomeCall.Waiting waiting, Turn turn) {
        Wait wait = waits.get(waiting.number());
        if (wait == null || turns.contains(waiting.number())) {
            return;
        }
        boolean over = wait.request.noWait() && turn.now() - wait.until >= 0;
        if (waiting.silent().isEmpty()) {
            boolean again = !wait.silent.isEmpty();
            wait.silent = List.of();
            if (over) {
                RefusalCause cause = waiting.asked() ? RefusalCause.HELD : RefusalCause.OPENING;
                refuse(waiting.number(), wait, cause, List.of(), turn);
            } else if (again) {
                tellPlace(wait, turn);
            } else if (!waiting.asked() && !wait.request.noWait()) {
                tellKeptOut(wait, turn);
            }
            return;
        }
        if (over || !waiting.silent().equals(wait.silent)) {
            wait.silent = waiting.silent();
            turn.goal(over ? HomeGoal.REFUSED_FOR_SILENCE : HomeGoal.SILENCE_TOLD);
            if (over) {
                leave(waiting.number(), wait, turn);
            }
            String who = String.join(", ", waiting.silent());
            String why = waiting.rule() + ", and " + who + (waiting.silent().size() == 1 ? " does" : " do") + " not";
            turn.send(wait.peer, new LockMessage.Blocked(key, wait.request.request(), over, why));
        }
    }

    @Override
    public void due(int slot, Turn turn) {
        asks.forEach((number, ask) -> {
            if (turn.now() - ask.until >= 0) {
                turns.remove(number); // its client is not heard: nothing can be given to it
                tell(new HomeCall.WhoIsSilent(key.id(), number), turn);
            }
        });
        armPatience(turn);
    }

    private void armPatience(Turn turn) {
        long next = Turn.NEVER;
        for (Wait ask : asks.values()) {
            if (turn.now() - ask.until < 0) {
                next = Turn.earlier(next, ask.until);
            }
        }
        turn.timer(PATIENCE, next);
    }

    // Grants

    private void turnOf(HomeCall.Yours yours, Turn turn) {
        Wait wait = waits.get(yours.number());
        if (wait == null) {
            tell(new HomeCall.Leave(key.id(), yours.number()), turn);
            return;
        }
        wait.token = yours.token();
        turns.add(yours.number());
        grantTurns(turn);
    }

    /** Grants to those whose turn it is, if that can be done now. */
    private void grantTurns(Turn turn) {
        for (long number : List.copyOf(turns)) {
            Wait wait = waits.get(number);
            if (wait == null) {
                continue;
            }
            if (turn.member().quarantined()) {
                turn.member().awaitOpening(key);
            } else if (turn.member().silence(wait.peer) < wait.request.ttl() / 2) {
                grant(number, wait, turn);
            } else {
                turn.goal(HomeGoal.TURN_OF_THE_SILENT);
                turn.member().listen(wait.peer, key);
            }
        }
    }

    private void grant(long number, Wait wait, Turn turn) {
        forget(number, wait);
        LockMessage.Acquire request = wait.request;
        turn.member().unawait(wait.peer, key, request.ttl());
        long since = request.mode() == LockMode.SHARED ? turn.now() : Turn.NEVER;
        held.put(
                wait.token,
                new Held(number, wait.peer, request.request(), request.mode(), wait.token, request.ttl(), since));
        turn.member().grant(wait.peer, key, wait.token, request.ttl());
        turn.send(wait.peer, new LockMessage.Granted(key, request.request(), wait.token, wait.token, true));
    }

    private @Nullable Held current(Peer from, long token) {
        Held grant = held.get(token);
        return grant != null && grant.peer().equals(from) ? grant : null;
    }

    /**
     * The grant is over.
     *
     * @param lost whoever is breaking it has what it wants
     */
    private void end(@Nullable Held over, boolean lost, Turn turn) {
        if (over == null) {
            return;
        }
        held.remove(over.token());
        revoked.remove(over.token());
        turn.member().ungrant(over.peer(), key, over.token(), over.ttl());
        boolean done = lost;
        List<Long> broken = breaks.remove(over.token());
        for (long each : broken == null ? List.<Long>of() : broken) {
            tell(new HomeCall.BrokenHere(key.id(), each, done), turn);
            done = false; // whoever came later broke what another was breaking already
        }
        tell(new HomeCall.Leave(key.id(), over.number(), over.since()), turn);
    }

    private void sessionEnded(Peer peer, Turn turn) {
        for (long number : List.copyOf(waits.keySet())) { // an entry of a tree may be another one's after a removal
            Wait wait = waits.get(number);
            if (wait != null && wait.peer.equals(peer)) {
                forget(number, wait);
                tell(new HomeCall.Leave(key.id(), number), turn);
            }
        }
        claims.values().removeIf(claim -> claim.peer().equals(peer));
        for (Held grant : List.copyOf(held.values())) {
            if (grant.peer().equals(peer)) {
                end(grant, true, turn);
            }
        }
    }

    /** The client is told in front of whatever lets it believe for longer. */
    private void takenBack(HomeCall.TakenBack back, Turn turn) {
        Wait wait = waits.get(back.number());
        if (wait != null) {
            wait.token = 0;
            turns.remove(back.number());
            tell(new HomeCall.NotGiven(key.id(), back.number()), turn);
            return;
        }
        Held grant = grantOf(back.number());
        if (grant != null) {
            LeaseLoss.Cause cause = LeaseLoss.Cause.EXPIRED;
            revoked.add(grant.token());
            turn.send(grant.peer(), new LockMessage.Revoke(key, grant.token(), cause, back.why()));
        }
    }

    // After a start of the member

    /** A client says that it still believes in its grant; only what stood before this life spoke can be taken over. */
    private void claimed(Peer from, LockMessage.Reassert claim, Turn turn) {
        Held grant = current(from, claim.token());
        if (grant != null) {
            turn.send(from, new LockMessage.Reasserted(key, claim.token(), true));
        } else if (!held.isEmpty()
                || claims.size() > 0
                || !turn.member().quarantined()
                || claim.mode() != LockMode.EXCLUSIVE
                || claim.ttl() > turn.member().maxTtl()) {
            turn.goal(HomeGoal.CLAIM_REFUSED);
            turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
        } else {
            long number = ++numbers;
            claims.put(number, new Claim(from, claim));
            long since = turn.now();
            tell(new HomeCall.Adopt(key.id(), number, claim.token(), claim.owner(), since), turn);
        }
    }

    private void adopted(HomeCall.Adopted answer, Turn turn) {
        Claim claim = claims.remove(answer.number());
        if (claim == null) {
            if (answer.stands()) {
                tell(new HomeCall.Leave(key.id(), answer.number()), turn);
            }
            return;
        }
        LockMessage.Reassert said = claim.said();
        if (!answer.stands()) {
            turn.send(claim.peer(), LockMessage.Revoke.of(key, said.token(), LeaseLoss.Cause.DENIED));
            return;
        }
        held.put(
                said.token(),
                new Held(
                        answer.number(),
                        claim.peer(),
                        said.request(),
                        said.mode(),
                        said.token(),
                        said.ttl(),
                        Turn.NEVER));
        turn.member().grant(claim.peer(), key, said.token(), said.ttl());
        turn.send(claim.peer(), new LockMessage.Reasserted(key, said.token(), true));
    }

    // Breaks

    private void breakHere(HomeCall.BreakHere request, Turn turn) {
        Held grant = held.get(request.token());
        if (grant == null) {
            tell(new HomeCall.BrokenHere(key.id(), request.number(), false), turn);
            return;
        }
        breaks.computeIfAbsent(request.token(), fresh -> new ArrayList<>(1)).add(request.number());
        LeaseLoss.Cause cause = LeaseLoss.Cause.BROKEN;
        turn.send(grant.peer(), new LockMessage.Revoke(key, request.token(), cause, request.reason()));
    }

    private void revoked(Peer from, LockMessage.Revoked revoked, Turn turn) {
        Held ended = current(from, revoked.ended());
        if (ended != null) {
            end(ended, true, turn);
        } else if (current(from, revoked.token()) != null) {
            List<Long> broken = breaks.remove(revoked.token());
            for (long each : broken == null ? List.<Long>of() : broken) {
                tell(new HomeCall.BrokenHere(key.id(), each, false), turn);
            }
        }
    }

    // State

    /** The grants, in the order of their tokens. */
    Collection<Held> held() {
        return held.values();
    }

    /** Whether that request waits. */
    boolean waits(Peer peer, long request) {
        return numberOf.containsKey(new Id(peer, request));
    }

    /** The sessions of those who wait. */
    List<Peer> waiting() {
        List<Peer> all = new ArrayList<>(waits.size());
        waits.values().forEach(wait -> all.add(wait.peer));
        return all;
    }

    @Override
    public boolean atRest() {
        return waits.isEmpty() && held.isEmpty() && claims.isEmpty();
    }

    @Override
    public HomeManager copy() {
        HomeManager copy = new HomeManager(key, coordinator, settings, hasReaders);
        waits.forEach((number, wait) -> {
            Wait twin = wait.copy();
            copy.waits.put(number, twin);
            if (asks.containsKey(number)) {
                copy.asks.put(number, twin);
            }
        });
        copy.numberOf.putAll(numberOf);
        copy.turns.addAll(turns);
        copy.claims.putAll(claims);
        breaks.forEach((token, numbers) -> copy.breaks.put(token, new ArrayList<>(numbers)));
        copy.held.putAll(held);
        copy.revoked.addAll(revoked);
        copy.numbers = numbers;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(waits.size());
        waits.forEach((number, wait) -> {
            out.put(number).put(wait.peer).value(wait.request).time(wait.since).time(wait.until);
            out.put(wait.token).value(wait.silent).put(wait.keptOut).value(String.valueOf(wait.place));
        });
        held.values().forEach(grant -> grant.encode(out));
        out.put(held.size())
                .value(claims)
                .value(breaks)
                .value(revoked)
                .value(turns)
                .put(numbers);
    }
}
