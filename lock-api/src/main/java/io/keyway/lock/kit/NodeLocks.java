// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The locks over nodes that a transaction was asked for, and which of their parts are to be asked for next. Each part
 * is an ordinary lock of its transaction (see {@link NodeParts}): this decides which ones it has. Pure; guarded by the
 * transaction's lock.
 *
 * <p><b>In order, one at a time.</b> The nodes are asked in the order of their ids, which is the same for all who use
 * the lock, each when the one before has granted. So two users never hold a node each and wait for the other's, and
 * whoever waits for k of n nodes waits at any time for one request: what its agent knows of deadlocks needs no more
 * than that edge. A node that does not answer is passed over, if the rule can be met without it. Its request stays, as
 * a spare that no search for deadlocks follows: nobody knows whether that node is ever to grant.
 *
 * <p><b>In a circle</b> through that one request the next node is asked too, before anybody gives way, and the request
 * becomes a spare: whoever waits for k of n is in a deadlock only when no node is left that it could ask.
 *
 * <p><b>Once it is held</b> by a majority, and its user was told, the other nodes are asked too, and so is a node whose
 * part was lost: the lock outlives the loss of any node while a majority still holds it. These requests are spares: the
 * transaction does not wait for them. They keep out nobody who could have the lock, since no other majority is free.
 *
 * <p><b>Invariants.</b> Of a lock that is not held there is at most one part that is neither granted nor a spare, but
 * within a step; and one, if any waits. A lock is held while as many parts are as its rule says of the nodes that are
 * <i>named</i>; in the step in which it becomes held all other requests are withdrawn. A lock of which the user was
 * told and that was seen at too few nodes is held no more, whatever is granted after that: between two looks its parts
 * become fewer only, so a lock that is seen held has been held since it was granted. A transaction that cannot reach
 * enough nodes holds none of them: it fails, or gives back what it has and waits for their return.
 */
final class NodeLocks {
    /** How a part stands. */
    enum State {
        /** Not asked for. */
        NONE,
        /** Its node is about to answer, or has answered that others are before it. */
        WAITS,
        /** Its node has not answered for a moment, or does not serve: others may be asked. */
        SILENT,
        /** Its node has not answered for as long as a request may take. */
        AWAY,
        HELD
    }

    /** What the transaction knows of the parts and does with them. */
    interface Parts {
        State state(LockName part);

        /** {@code queue}: whether it waits for others; or its node says at once that others have it. */
        void askPart(LockName part, LockMode mode, boolean queue);

        /** It is not to be had any more: neither waited for nor held. */
        void takeBack(LockName part);

        /** Asks for a part of a lock that is held without it, if it may be asked for now. */
        void askSpare(LockName part, LockMode mode);

        /** Whether its lock does without the request for that part; another one may need the same level of a tree. */
        void spare(LockName part, boolean spare);

        /** Too few nodes answer. All parts have been taken back. */
        void tooFew(Wishes.GivenUp lock, NodeSet set, List<LockName> away);

        /** Too few nodes grant it at once, and of one of them nobody knows whether others have it: that is why. */
        void failed(Wishes.GivenUp lock, Throwable why);
    }

    /** One lock. */
    private static final class Spread {
        final LockMode mode;
        final NodeSet set;
        final Owner owner;
        /** Whether it is to be had at once or not at all: nobody waits for it. */
        boolean once;
        /** Whether somebody asked for it who does not only try: it stays wanted when those who try have left. */
        boolean stays;
        /** When it was asked for. */
        final long asked;

        final List<LockName> parts = new ArrayList<>();
        /** Where it is not to be had at once, if it does not wait; and why nobody knows whether others have it. */
        final Map<LockName, Optional<Throwable>> refused = new LinkedHashMap<>();
        /** Where it waits in a circle, and asks another node instead. */
        final Set<LockName> passedOver = new HashSet<>();
        /** Whether its user may have been told that it is held. */
        boolean told;
        /** Whether it was seen at too few nodes after that. */
        boolean broken;
        /** Its token, if it has one for all nodes; or 0. */
        long token;

        Spread(LockName name, LockMode mode, NodeSet set, Owner owner, boolean once, long asked) {
            this.asked = asked;
            this.mode = mode;
            this.set = set;
            this.owner = owner;
            this.once = once;
            set.nodes().forEach(node -> parts.add(NodeParts.part(name, node)));
        }

        /** So many nodes it can do without. */
        int spared() {
            return parts.size() - set.needed();
        }
    }

    private final Parts view;
    private final Map<LockName, Spread> all = new LinkedHashMap<>();

    NodeLocks(Parts view) {
        this.view = view;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Their names, in the order in which they were asked for. */
    List<LockName> names() {
        return List.copyOf(all.keySet());
    }

    boolean has(LockName lock) {
        return all.containsKey(lock);
    }

    /** In which mode that lock is wanted or held; null if it is not. */
    @Nullable
    LockMode mode(LockName lock) {
        Spread spread = all.get(lock);
        return spread == null ? null : spread.mode;
    }

    /** Whether its user may have been told that it is held. */
    boolean told(LockName lock) {
        Spread spread = all.get(lock);
        return spread != null && spread.told;
    }

    /** The parts of that lock, in the order of their nodes; none if there is no such lock. */
    List<LockName> parts(LockName lock) {
        Spread spread = all.get(lock);
        return spread == null ? List.of() : spread.parts;
    }

    /** The nodes of that lock, which is there. */
    NodeSet set(LockName lock) {
        return Objects.requireNonNull(all.get(lock)).set;
    }

    /** Who asks for the parts of that lock, which is there. */
    Owner owner(LockName lock) {
        Spread spread = Objects.requireNonNull(all.get(lock));
        return spread.token == 0 ? spread.owner : NodeParts.under(spread.owner, spread.token);
    }

    /** The user of that lock, which is held, has it under that token: who asks for its other parts says so. */
    void under(LockName lock, long token) {
        Objects.requireNonNull(all.get(lock)).token = token;
    }

    /** The token of that lock, which is there, if it has one for all nodes. */
    OptionalLong token(LockName lock) {
        long token = Objects.requireNonNull(all.get(lock)).token;
        return token == 0 ? OptionalLong.empty() : OptionalLong.of(token);
    }

    /** The lock of which that is a part; null if it is none. */
    @Nullable
    LockName lockOf(LockName part) {
        for (Map.Entry<LockName, Spread> each : all.entrySet()) {
            if (each.getValue().parts.contains(part)) {
                return each.getKey();
            }
        }
        return null;
    }

    /**
     * Checks what is asked for.
     *
     * @throws IllegalStateException if it is in the transaction at other nodes, without nodes, or SHARED
     * @throws IllegalArgumentException if its parts have no names, since its own is too long
     */
    void ensureMayAsk(LockRequest request, boolean hasWithout) {
        Spread known = all.get(request.name());
        NodeSet set = request.nodes().orElse(null);
        if (set == null ? known != null : hasWithout) {
            throw new IllegalStateException(request.name() + " is in this transaction "
                    + (set == null ? "as a lock over nodes" : "without nodes") + "; they are two locks of one name");
        }
        if (known != null && set != null && !known.set.equals(set)) {
            throw new IllegalStateException(request.name() + " is asked for at " + known.set + "; the list and the rule"
                    + " belong to the lock, ask for it at the same ones");
        }
        if (known != null && known.mode == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE) {
            throw new IllegalStateException(request.name() + " is SHARED at nodes, and a lock over nodes is not"
                    + " upgraded; unlock it first, or ask for it EXCLUSIVE at once");
        }
        if (known == null && set != null) {
            set.nodes().forEach(node -> NodeParts.part(request.name(), node));
        }
    }

    /**
     * A lock is asked for that is not wanted; each of its parts by that owner, who says of which set it is.
     *
     * @param queue whether it waits for others
     */
    void add(LockName lock, LockMode mode, NodeSet set, Owner owner, boolean queue, long now) {
        all.put(lock, new Spread(lock, mode, set, owner, !queue, now));
    }

    /**
     * Somebody asks for that lock, which is wanted.
     *
     * @param queue whether to wait for others: then its nodes are asked with a queue from now on
     * @param tries whether who asks gives it up again if it does not get it in time
     */
    void ask(LockName lock, boolean queue, boolean tries) {
        Spread spread = Objects.requireNonNull(all.get(lock));
        spread.stays |= !tries;
        if (queue) {
            spread.once = false;
            spread.refused.clear();
        }
    }

    /**
     * Somebody who tried to get that lock does not wait any more.
     *
     * @param others whether others wait for it
     * @return whether it is wanted no more
     */
    boolean leave(LockName lock, boolean others) {
        Spread spread = Objects.requireNonNull(all.get(lock));
        boolean over = !spread.told && !spread.stays && !others;
        if (over) {
            remove(lock);
        }
        return over;
    }

    /** That lock, which is wanted, cannot be had. */
    Wishes.GivenUp giveUp(LockName lock) {
        Spread spread = Objects.requireNonNull(all.get(lock));
        remove(lock);
        return new Wishes.GivenUp(lock, spread.mode, spread.asked);
    }

    /** It is neither wanted nor held any more. */
    void remove(LockName lock) {
        Spread spread = all.remove(lock);
        if (spread != null) {
            spread.parts.forEach(view::takeBack);
        }
    }

    /** The user gives it back. */
    void forget(LockName lock) {
        all.remove(lock);
    }

    /** That lock is held, and the user may know. */
    void tell(LockName lock) {
        Objects.requireNonNull(all.get(lock)).told = true;
    }

    /** All is held: the user may be told. */
    void tell() {
        all.values().forEach(each -> each.told = true);
    }

    /** Whether a lock of which the user has not been told lacks a node. */
    boolean lacks() {
        for (Spread each : all.values()) {
            if (!each.told && !isHeld(each)) {
                return true;
            }
        }
        return false;
    }

    /**
     * A lock of which the user may have been told and that is not held at enough nodes, or was not at an earlier look;
     * null if there is none.
     */
    @Nullable
    LockName broken() {
        for (Map.Entry<LockName, Spread> each : all.entrySet()) {
            if (each.getValue().told && !isHeld(each.getValue())) {
                return each.getKey();
            }
        }
        return null;
    }

    /** Sees which locks are broken by now: before anything is granted that could hide it. */
    void look() {
        all.values().forEach(this::isHeld);
    }

    /** Whether that lock is held at enough nodes. */
    boolean isHeld(LockName lock) {
        Spread spread = all.get(lock);
        return spread != null && isHeld(spread);
    }

    private boolean isHeld(Spread spread) {
        boolean held = !spread.broken && held(spread).size() >= spread.set.needed();
        spread.broken |= spread.told && !held;
        return held;
    }

    private List<LockName> held(Spread spread) {
        return spread.parts.stream()
                .filter(part -> view.state(part) == State.HELD)
                .toList();
    }

    /** The parts of that lock that are held, by their nodes. */
    Map<String, LockName> held(LockName lock) {
        Map<String, LockName> held = new LinkedHashMap<>();
        Spread spread = Objects.requireNonNull(all.get(lock));
        for (LockName part : held(spread)) {
            held.put(spread.set.nodes().get(spread.parts.indexOf(part)), part);
        }
        return held;
    }

    /**
     * Whether another node may be asked instead of the one of that part, which waits: then a circle through that
     * request is none.
     */
    boolean canPassOver(LockName part) {
        Spread spread = spreadOf(part);
        if (spread == null || spread.told || view.state(part) != State.WAITS) {
            return false;
        } else if (spread.passedOver.contains(part)) {
            return true; // by another circle, a moment ago
        }
        int open = 0;
        int passed = 1;
        for (LockName each : spread.parts) {
            State state = view.state(each);
            open += state == State.NONE ? 1 : 0;
            passed += state == State.SILENT || state == State.AWAY || spread.passedOver.contains(each) ? 1 : 0;
        }
        return open > 0 && passed <= spread.spared();
    }

    /** Does not count on that part any more, of which it {@link #canPassOver}. */
    void passOver(LockName part) {
        Objects.requireNonNull(spreadOf(part)).passedOver.add(part);
    }

    private @Nullable Spread spreadOf(LockName part) {
        LockName lock = lockOf(part);
        return lock == null ? null : all.get(lock);
    }

    /** Asks for what is next, and takes back what is needed no more. */
    void advance(boolean awaitNodes) {
        for (LockName lock : List.copyOf(all.keySet())) {
            Spread spread = all.get(lock);
            if (spread != null && !spread.told && !givesUp(lock, spread)) {
                advance(lock, spread, awaitNodes);
            }
        }
    }

    /** Asks for the other parts of locks that are held by a majority, and whose users were told. */
    void askSpares() {
        ofHeld((spread, part) -> {
            if (view.state(part) == State.NONE) {
                view.askSpare(part, spread.mode);
            }
        });
    }

    /** Says of what is asked for by {@link #askSpares} that it is spare. */
    void spare() {
        ofHeld((spread, part) -> {
            if (view.state(part) != State.NONE) {
                view.spare(part, true);
            }
        });
    }

    /** All parts that are not held of locks that are held by a majority, and whose users were told. */
    private void ofHeld(BiConsumer<Spread, LockName> each) {
        for (Spread spread : all.values()) {
            if (spread.told && spread.set.rule() == NodeRule.MAJORITY && isHeld(spread)) {
                spread.parts.stream()
                        .filter(part -> view.state(part) != State.HELD)
                        .forEach(part -> each.accept(spread, part));
            }
        }
    }

    /**
     * That part is not to be had at once.
     *
     * @param why it is not known whether others have it; null if they do
     * @return false if it is no part of a lock that does not wait
     */
    boolean refused(LockName part, @Nullable Throwable why) {
        Spread spread = spreadOf(part);
        if (spread == null || !spread.once || spread.told) {
            return false;
        }
        spread.refused.put(part, Optional.ofNullable(why));
        return true;
    }

    /** Gives up what does not wait, and is refused at too many nodes, or at those that answer. */
    private boolean givesUp(LockName lock, Spread spread) {
        if (!spread.once) {
            return false;
        }
        List<LockName> away = spread.parts.stream()
                .filter(part -> view.state(part) == State.AWAY)
                .toList();
        if (spread.refused.size() + away.size() <= spread.spared()) {
            return false;
        }
        List<Throwable> unknown =
                spread.refused.values().stream().flatMap(Optional::stream).toList();
        if (spread.refused.size() - unknown.size() > spread.spared()) {
            remove(lock);
        } else if (!unknown.isEmpty()) {
            view.failed(giveUp(lock), unknown.get(0));
        } else {
            view.tooFew(giveUp(lock), spread.set, away);
        }
        return true;
    }

    private void advance(LockName lock, Spread spread, boolean awaitNodes) {
        Map<State, List<LockName>> by = new LinkedHashMap<>();
        for (State state : State.values()) {
            by.put(state, new ArrayList<>());
        }
        spread.parts.forEach(part -> in(by, view.state(part)).add(part));
        List<LockName> away = in(by, State.AWAY);
        List<LockName> passed = new ArrayList<>(in(by, State.SILENT));
        passed.addAll(away);
        int spared = spread.spared();
        List<LockName> waits = in(by, State.WAITS);
        spread.passedOver.retainAll(waits);
        if (in(by, State.HELD).size() >= spread.set.needed()) {
            waits.forEach(view::takeBack);
            passed.forEach(view::takeBack);
            return;
        }
        if (away.size() > spared) {
            waits.forEach(view::takeBack);
            in(by, State.HELD).forEach(view::takeBack);
            if (!awaitNodes) {
                view.tooFew(giveUp(lock), spread.set, away);
                return;
            }
            waits = List.of();
        }
        List<LockName> open = in(by, State.NONE);
        open.removeAll(spread.refused.keySet());
        passed.addAll(spread.refused.keySet());
        List<LockName> counted = new ArrayList<>(waits);
        counted.removeAll(spread.passedOver);
        boolean asks = counted.isEmpty() && passed.size() + waits.size() <= spared && !open.isEmpty();
        if (counted.isEmpty() && !asks && !waits.isEmpty()) {
            spread.passedOver.remove(waits.get(0));
            counted.add(waits.get(0));
        }
        for (LockName part : waits) {
            if (!counted.contains(part)) {
                passed.add(part);
            }
        }
        passed.forEach(part -> view.spare(part, true));
        for (int i = 0; i < counted.size(); i++) {
            if (i == 0) {
                view.spare(counted.get(i), spread.once); // what does not wait keeps nobody waiting
            } else {
                view.takeBack(counted.get(i));
            }
        }
        if (asks) {
            view.askPart(open.get(0), spread.mode, !spread.once);
        }
    }

    private static List<LockName> in(Map<State, List<LockName>> by, State state) {
        return Objects.requireNonNull(by.get(state));
    }
}
