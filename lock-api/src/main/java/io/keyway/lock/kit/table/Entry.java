// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one request has in a row. Immutable. Times are nanoseconds of the store's clock, of any origin; a token or a
 * time that the write which brings it has yet to give is {@link #STAMP}.
 *
 * @param client whose request it is, as the text of its incarnation
 * @param request what was asked; with {@code client} its id is unique forever
 * @param state what the entry is
 * @param token of a holder its fencing token; of an upgrade that waits the token of the grant that it upgrades; else 0
 * @param since when it joined the queue, or was granted, in whichever mode
 * @param heard when its client was heard of last; of {@link State#KEPT} the time of its grant
 * @param lasts how long after {@code heard} it ends if nothing more is heard, in nanoseconds
 * @param reason why it was broken; empty if it was not
 * @param before what an upgraded holder was, until its client has shown by a renewal that it knows of the upgrade
 */
public record Entry(
        String client,
        Request request,
        State state,
        long token,
        long since,
        long heard,
        long lasts,
        String reason,
        @Nullable Entry before) {

    /** A time or a token that the write which brings it gives. */
    public static final long STAMP = Long.MIN_VALUE;

    /** What an entry is. */
    public enum State {
        /** A grant in force. */
        HOLDING,
        /** A grant that was broken: its place stays until its holder has released it, or its term has passed. */
        BROKEN,
        /** No grant any more: its place stays for the rest of the time that it was to be held at least. */
        KEPT,
        /** A reader that waits to become the writer, before all that queue; its own grant is another entry. */
        UPGRADING,
        /** In the queue. */
        WAITING,
        /**
         * A soft writer, which waits beside the queue and keeps nobody out. If it waits for a time without readers,
         * {@code since} is when one was granted last, or when it asked if that was later.
         */
        YIELDING,
        /** Nothing but the memory of a request that no attempt may bring back. */
        WITHDRAWN
    }

    /**
     * Checks that nothing is null.
     *
     * @param client see the record
     * @param request see the record
     * @param state see the record
     * @param token see the record
     * @param since see the record
     * @param heard see the record
     * @param lasts see the record
     * @param reason see the record
     * @param before see the record
     */
    public Entry {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(reason, "reason");
    }

    /**
     * Returns an entry that begins with the write that brings it: in the queue, a grant, or the memory of a withdrawal.
     */
    static Entry begin(String client, Request request, State state, long lasts) {
        long token = state == State.HOLDING ? STAMP : 0;
        return new Entry(client, request, state, token, STAMP, STAMP, lasts, "", null);
    }

    /**
     * {@return the id of it in the store, unique forever} A request has the same id while it waits, holds and is
     * remembered as withdrawn; a grant that is converted goes on under the id of another request, and what it was,
     * {@link #before}, has the former one.
     */
    public String id() {
        return client + ":" + request.id();
    }

    /**
     * {@return whether it is of that request}
     *
     * @param someClient whose, as the text of its incarnation
     * @param id of the request
     */
    public boolean isOf(String someClient, long id) {
        return request.id() == id && client.equals(someClient);
    }

    /**
     * Whether it is that entry, perhaps as it was before: of one request nothing stands twice in a row in one state.
     */
    boolean isSame(Entry other) {
        return isOf(other.client, other.request.id()) && state == other.state && token == other.token;
    }

    /**
     * Returns whether it stands behind that one in a row: holders, the upgrade that waits, the queue, what was
     * withdrawn.
     */
    boolean isBehind(Entry other) {
        return !(holds() && other.holds()) && state.compareTo(other.state) > 0;
    }

    /**
     * {@return whether it keeps others out: a grant in force, one that was broken, or the place of one that is kept}
     */
    public boolean holds() {
        return state == State.HOLDING || state == State.BROKEN || state == State.KEPT;
    }

    /** {@return whether it waits for its turn, in the queue or beside it} */
    public boolean waits() {
        return queues() || state == State.YIELDING;
    }

    /** {@return whether it has a place in the queue, so that others wait for it} */
    public boolean queues() {
        return state == State.WAITING || state == State.UPGRADING;
    }

    /** {@return the grant of a holder} */
    public Grant grant() {
        return new Grant(request.id(), request.key(), token, request.ttl());
    }

    /** {@return when it ends if nothing more is heard of its client} */
    public long ends() {
        return heard + lasts;
    }

    /** The same, of a client that is heard of with this write. */
    Entry heardNow(long newLasts) {
        return new Entry(client, request, state, token, since, STAMP, newLasts, reason, before);
    }

    Entry heardAt(long now) {
        return new Entry(client, request, state, token, since, now, lasts, reason, before);
    }

    /** A reader was granted with this write. */
    Entry besideReader() {
        return state == State.YIELDING
                        && request.quiet().filter(time -> !time.isZero()).isPresent()
                ? new Entry(client, request, state, token, STAMP, heard, lasts, reason, before)
                : this;
    }

    /** The same waiter, by what its latest attempt says. */
    Entry asking(Request latest, long newLasts) {
        return new Entry(client, latest, state, token, since, STAMP, newLasts, reason, before);
    }

    /** The same holder in another mode, with a token of its own. */
    Entry converted(Request wanted, long newLasts) {
        Entry was = new Entry(client, request, state, token, since, heard, lasts, reason, null);
        return new Entry(client, wanted, state, STAMP, since, STAMP, newLasts, reason, was);
    }

    /** The holder's client knows what it holds. */
    Entry known() {
        return before == null ? this : new Entry(client, request, state, token, since, heard, lasts, reason, null);
    }

    /** What it was before an upgrade, for what is left of the upgrade's term. */
    Entry undone(Entry reader) {
        return new Entry(client, reader.request(), state, reader.token(), since, heard, lasts, reason, null);
    }

    Entry broken(String why) {
        return new Entry(client, request, State.BROKEN, token, since, heard, lasts, why, before);
    }

    /** No grant any more, and in place until {@code least} nanoseconds have passed since the grant was made. */
    Entry kept(long least) {
        return new Entry(client, request, State.KEPT, token, since, since, least, reason, null);
    }

    /** The reader behind an upgrade that waits. */
    Entry upgrading(long held) {
        return new Entry(client, request, State.UPGRADING, held, since, heard, lasts, reason, null);
    }

    /**
     * {@return whether it begins with the write that brings it, as a place in the queue, a grant, a conversion or the
     * memory of a withdrawal} Where leases say who lives, its lease is made then, for {@link #lasts}, whatever lease
     * was there by that id; otherwise its client was heard of again, and the lease is renewed, if it still stands.
     */
    public boolean begins() {
        return state == State.HOLDING ? token == STAMP : !holds() && since == STAMP;
    }

    boolean isStamped() {
        return token != STAMP && since != STAMP && heard != STAMP;
    }

    Entry stamped(long newToken, long now) {
        return new Entry(
                client,
                request,
                state,
                token == STAMP ? newToken : token,
                since == STAMP ? now : since,
                heard == STAMP ? now : heard,
                lasts,
                reason,
                before);
    }
}
