// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TreeModes;
import org.jspecify.annotations.Nullable;

/** A grant as its manager knows it. When it ends is the session's business. */
final class HeldGrant implements Admission.Claim {
    /** The session of a grant that was taken over from before a clean end and that nobody has re-asserted. */
    static final Peer NOBODY = new Peer(0);

    /** Of what binds nobody else. */
    static final int NO_CEILING = Integer.MAX_VALUE;

    Peer peer;
    final long request;
    final long token;
    final long hi;
    final LockMode mode;
    final int permits;
    final long ttl;
    final Owner owner;
    final long since;
    /** How long after {@link #since} others are kept out at the least, in nanoseconds; 0 for no such time. */
    final long atLeast;
    /** How many permits there are by the word of whoever was granted these; {@link #NO_CEILING} for a lock. */
    int ceiling = NO_CEILING;
    /** The holder has said that it is in use and knows that it is wanted: it will not be cached. */
    boolean settled;
    /** The grant is over, and keeps others out for the rest of that time. Its session is {@link #NOBODY}. */
    boolean kept;
    /** The end of an imported grant; of no meaning for others. */
    long until;
    /** The holder knows that others wait. Changed by {@link Grants} once it is one of them. */
    boolean wanted;
    /** A recall goes out when the holder is next heard. */
    boolean recallLater;
    /** How many recalls are to be answered in any case, and how many of them were denied. */
    long recalls;

    long denials;
    /** The grant as it was before its mode was changed, which its holder may not know yet; null if it never was. */
    @Nullable
    HeldGrant before;

    HeldGrant(
            Peer peer,
            long request,
            long token,
            long hi,
            LockMode mode,
            int permits,
            long ttl,
            Owner owner,
            long since,
            long atLeast) {
        this.peer = peer;
        this.request = request;
        this.token = token;
        this.hi = hi;
        this.mode = mode;
        this.permits = permits;
        this.ttl = ttl;
        this.owner = owner;
        this.since = since;
        this.atLeast = atLeast;
    }

    /** Whether what is granted to that request now is alive when it arrives: its client was heard lately. */
    static boolean arrivesAlive(Peer to, LockMessage.Acquire request, Turn turn) {
        return turn.member().silence(to) < request.ttl() / 2;
    }

    /** What is granted to that request, with these tokens. */
    static HeldGrant granted(Peer to, LockMessage.Acquire request, long token, long hi, long now) {
        HeldGrant grant = new HeldGrant(
                to,
                request.request(),
                token,
                hi,
                request.mode(),
                request.permits(),
                request.ttl(),
                request.owner(),
                now,
                request.atLeast());
        grant.ceiling = request.mode() == LockMode.PERMITS ? request.capacity() : NO_CEILING;
        return grant;
    }

    /** A grant of before a clean end: it may be believed in for as long as it had left. */
    static HeldGrant imported(LockCall.Import was, long now) {
        HeldGrant grant = new HeldGrant(
                NOBODY, 0, was.token(), was.hi(), was.mode(), was.permits(), was.ttl(), was.owner(), now, was.keep());
        grant.until = now + was.left();
        grant.ceiling = was.mode() == LockMode.PERMITS ? was.ceiling() : NO_CEILING;
        if (was.before() != 0) {
            grant.before = grant.former(
                    was.before(), was.before(), was.mode().isTree() ? LockMode.INTENT_SHARED : LockMode.SHARED);
        }
        return grant;
    }

    /** A grant of before a crash, as its holder says. */
    static HeldGrant claimed(Peer by, LockMessage.Reassert claim, long now) {
        return new HeldGrant(
                by,
                claim.request(),
                claim.token(),
                claim.hi(),
                claim.mode(),
                claim.permits(),
                claim.ttl(),
                claim.owner(),
                now,
                0);
    }

    @Override
    public LockMode mode() {
        return mode;
    }

    @Override
    public int permits() {
        return permits;
    }

    /** Whether one in that mode would keep out nobody whom this does not; of a level, both have to be of trees. */
    boolean keepsOutAll(LockMode weaker) {
        return weaker.isTree()
                ? mode.isTree() && TreeModes.covers(mode, weaker)
                : weaker == LockMode.SHARED && mode != LockMode.PERMITS;
    }

    /** Whether it may lie idle in a cache: who asks gets an answer. */
    boolean recallable() {
        return hi > token && !kept;
    }

    /** Whether its holder could keep it cached, and does not know that others wait. */
    boolean isQuiet() {
        return recallable() && !wanted;
    }

    /**
     * Whether its client may still take it from its cache, for a user who sees no more permits than its ceiling: no
     * more may be out meanwhile.
     */
    boolean binds() {
        return ceiling != NO_CEILING && recallable() && !settled;
    }

    /** Whether this was a reader's, or a weaker one of a tree's level, before its mode was changed. */
    boolean isUpgraded() {
        return before != null
                && (mode.isTree()
                        ? TreeModes.covers(mode, before.mode)
                        : before.mode == LockMode.SHARED && mode == LockMode.EXCLUSIVE);
    }

    /**
     * The same grant in another mode.
     *
     * @param request which changed it
     * @param from its first token
     * @param to its last one
     */
    HeldGrant converted(LockMessage.Acquire request, long from, long to, long now) {
        long least = request.atLeast() == 0 ? atLeast : Math.max(atLeast, now - since + request.atLeast());
        HeldGrant next = new HeldGrant(
                peer,
                request.request(),
                from,
                to,
                request.mode(),
                permits,
                request.ttl(),
                request.owner(),
                since,
                least);
        next.before = copy();
        next.before.before = null;
        return next;
    }

    /**
     * The weaker grant that this one was before its mode was changed, or that its client claims when it has asked to be
     * a reader.
     */
    HeldGrant former(long from, long to, LockMode was) {
        HeldGrant former = new HeldGrant(peer, request, from, to, was, permits, ttl, owner, since, atLeast);
        former.until = until;
        return former;
    }

    /** The grant as it was before its mode was changed: what its holder has heard since was of the other one. */
    HeldGrant reverted() {
        if (before == null) {
            throw new IllegalStateException("the mode was never changed");
        }
        HeldGrant old = before.copy();
        old.recallLater = false;
        return old;
    }

    boolean imported() {
        return peer.equals(NOBODY) && !kept;
    }

    /** When others may come in, if the grant is over. */
    long keptUntil() {
        return since + atLeast;
    }

    /** Whether it would be kept if it were over. */
    boolean keepsAt(long now) {
        return atLeast > 0 && keptUntil() - now > 0;
    }

    boolean covers(long asked) {
        return asked >= token && asked <= hi;
    }

    /** The holder as far as the manager knows. */
    Participant participant(long now) {
        return new Participant(owner, mode, permits, token, now - since, kept ? Math.max(1, keptUntil() - now) : 0);
    }

    /** As a member takes it that starts after a clean end. */
    LockCall.Import export(long now) {
        long left = kept ? 0 : imported() ? Math.max(0, until - now) : ttl;
        long keep = keepsAt(now) ? keptUntil() - now : 0;
        long former = before == null ? 0 : before.token;
        int bound = binds() ? ceiling : NO_CEILING;
        return new LockCall.Import(token, hi, mode, permits, ttl, left, keep, owner, former, bound);
    }

    HeldGrant copy() {
        HeldGrant copy = new HeldGrant(peer, request, token, hi, mode, permits, ttl, owner, since, atLeast);
        copy.ceiling = ceiling;
        copy.settled = settled;
        copy.kept = kept;
        copy.until = until;
        copy.wanted = wanted;
        copy.recallLater = recallLater;
        copy.recalls = recalls;
        copy.denials = denials;
        copy.before = before;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(peer).put(request).put(token).put(hi).value(mode).put(permits).put(ttl);
        out.value(owner).time(since).put(atLeast).put(kept).time(imported() ? until : Long.MAX_VALUE);
        out.put(ceiling).put(settled);
        out.put(wanted).put(recallLater).put(recalls - denials);
        out.put(before != null);
        if (before != null) {
            before.encode(out);
        }
    }
}
