// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import org.jspecify.annotations.Nullable;

/** What the {@link StoreMachine} knows of one request, from its first attempt until nothing of it is left. */
final class StoreEntry {

    enum Phase {
        /** Attempts go on. */
        WANTED,
        /** Granted, and renewed. */
        HELD,
        /** Lost by the clock; given back when its owner has had time to stop, or says that it has. */
        LAPSED,
        /** Given back by its token until that is answered. */
        RELEASING,
        /** Given up before a grant was seen; withdrawn until that is answered. */
        WITHDRAWING
    }

    final Request request;
    Phase phase = Phase.WANTED;

    /** A call other than a renewal is under way. */
    boolean inFlight;

    /** Its first call waits for that of an earlier request, see {@link KeyQueue#maySend}. */
    boolean unsent;

    /** A hint came while the attempt was under way: it may have looked too early. */
    boolean again;

    /** An attempt may have left something at the store. */
    boolean mayExist;

    /** An attempt of it may be under way still, after one that was answered: only a withdrawal stops it. */
    boolean unanswered;

    /** Whatever was granted until now the store may have ended: only an attempt that is sent later tells. */
    boolean voided;

    /** The token of a grant that was broken unheard, and released since; 0 if there was none. */
    long disowned;

    /** When to call next, if {@link #armed}. */
    long due;

    boolean armed;
    int failures;

    /** What was last told while waiting; a repeated answer is not told again. */
    Attempt.@Nullable Waiting told;

    @Nullable
    Grant grant;

    /** The clock before the call that the grant, or its last renewal, answered. */
    long echo;

    /** Of a request for another mode: who holds the grant that it is to replace. */
    @Nullable
    StoreEntry holder;

    /** Of a holder: the request for another mode, until that is over. */
    @Nullable
    StoreEntry conversion;

    /** Of a holder: the request for another mode that is sent when {@link #conversion}, which was given up, is over. */
    @Nullable
    StoreEntry nextConversion;

    /** Its grant was that of another before, whose owner may believe still: a withdrawal comes too late for it. */
    boolean converted;

    boolean renewing;

    /** The renewal under way was sent before a conversion was over. */
    boolean renewedInConversion;

    boolean doubted;

    /** When the next renewal is due: half a ttl after the echo, or sooner in trouble. */
    long renewDue;

    /** Its grant reached nobody: it ends at once, even if it was to be held at least for some time. */
    boolean abandoned;

    /** A release or withdrawal was sent whose effect is unknown: "not held" may be its own doing. */
    boolean sentBefore;

    /** That the outcome of the release is unknown was told; it goes on. */
    boolean releaseTold;

    /**
     * The call or renewal under way was sent before a doubt: its answer may be that of a store which decides no more.
     */
    boolean stale;

    /** Clean-up ends here where the store has surely expired it by then. */
    long giveUpAt;

    /** Its position among those of its key: as they were made, unless it reached the store later. */
    long turn;

    StoreEntry(Request request, long turn) {
        this.request = request;
        this.turn = turn;
    }

    long id() {
        return request.id();
    }

    /** A release or a withdrawal of it has failed, and is to be sent again after a pause. */
    boolean waitsToRepeat() {
        return armed && (phase == Phase.RELEASING || phase == Phase.WITHDRAWING);
    }

    /** Whether it has a grant that was not given back. */
    boolean isGranted() {
        return phase == Phase.HELD || phase == Phase.LAPSED;
    }

    /** An attempt is sent. */
    void beginAttempt() {
        beginCall();
        unsent = false;
        again = false;
        voided = false;
    }

    /** A call other than a renewal is sent. */
    void beginCall() {
        armed = false;
        stale = false;
        inFlight = true;
    }

    /** It is to be released or withdrawn. */
    void cleanUp(Phase cleaning, long now) {
        armed = false;
        phase = cleaning;
        failures = 0;
        giveUpAt = now + 2 * ttl();
    }

    /**
     * Its renewal is answered. True if that may have met what the grant was before, or is to be: "not held" says
     * nothing then.
     */
    boolean renewalOver() {
        boolean converting = conversion != null || renewedInConversion;
        renewing = false;
        stale = false;
        renewedInConversion = false;
        return converting;
    }

    /** The one of the two whose renewal is due sooner. */
    StoreEntry sooner(@Nullable StoreEntry other) {
        return other == null || renewDue - other.renewDue < 0 ? this : other;
    }

    /** The request for another mode that was not given up; null if there is none. */
    @Nullable
    StoreEntry wantedConversion() {
        StoreEntry first = conversion;
        return first != null && first.phase == Phase.WANTED ? first : nextConversion;
    }

    /** Whether that is worth telling, and not what was told last; remembers it. */
    boolean isNew(Attempt.Waiting waiting) {
        Attempt.Waiting last = told;
        told = waiting;
        return last == null
                || !last.ahead().equals(waiting.ahead())
                || !last.holders().equals(waiting.holders());
    }

    /** Whether it was queued only now, after attempts that failed: more are before it than were. */
    boolean isLate(Attempt.Waiting waiting) {
        Attempt.Waiting last = told;
        return failures > 0
                && (last == null || waiting.ahead().orElse(0) > last.ahead().orElse(0));
    }

    /**
     * Whether the store said last, or may have meant, that others wait before it; among them may be some of this
     * client.
     */
    boolean waitsBehindOthers() {
        Attempt.Waiting last = told;
        return last != null
                && last.ahead().orElse(Integer.MAX_VALUE) > last.holders().size();
    }

    /** Requests are asked in this order: those for another mode first, since others may wait behind their grants. */
    long order() {
        return holder == null ? turn : Long.MIN_VALUE + turn;
    }

    Grant held() {
        Grant granted = grant;
        if (granted == null) {
            throw new IllegalStateException("not granted");
        }
        return granted;
    }

    long ttl() {
        return grant == null ? request.ttl().toNanos() : grant.ttl().toNanos();
    }

    /** End of belief: three quarters of the ttl after the echo. */
    long deadline() {
        return echo + ttl() / 4 * 3;
    }

    /** How much it asks for, to tell whether another can be granted where this one was not. */
    int need() {
        return request.mode() == LockMode.EXCLUSIVE ? Integer.MAX_VALUE : request.permits();
    }
}
