// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The bakery with one of its rules switched off. */
public enum UnsafeBakery {
    /** The product. */
    NONE,
    /** B1: a leader lets the smallest ticket in, whomever else it has let in before, as the source does. */
    NOT_EXCLUSIVE,
    /** B2: a leader lets the greatest ticket in, as one that looks at no order may. */
    ANY_ORDER,
    /** B3: nobody gives an activation back. */
    NEVER_YIELDS,
    /** B4: what a home does not say again stays. */
    KEEPS_WHAT_IS_OVER,
    /** B5: a leader that has started anew answers at once. */
    SPEAKS_EARLY,
    /** B6: what a former life of a leader has said is counted. */
    COUNTS_FORMER_LIVES,
    /** A new life lets any ticket in. */
    NO_FLOOR,
    /** V2: what leaders say counts although no majority confirms their view. */
    NEEDS_NO_LEASE,
    /** V3: who has got a seat speaks at once. */
    SPEAKS_IN_A_NEW_SEAT,
    /** V3: a life that finds itself with a seat speaks in it, whether a former one has or not. */
    FORGETS_SILENCES,
    /** V4: who had a seat in a former view is counted on. */
    COUNTS_FORMER_LEADERS,
    /** V6: who has got a seat lets in any ticket. */
    NO_FLOOR_OF_SEATS,
    /** A leader takes a ticket under any number. */
    ANY_NUMBER,
    /** A leader forgets what a member holds that was removed. */
    FORGETS_REMOVED,
    /** LK-1203: a reader is let in beside others although a writer waits. */
    PASSES_WRITERS,
    /** B1: a leader lets readers in whomever else it has let in. */
    LETS_READERS_IN,
    /** LK-1207: a soft writer has its place in the order. */
    QUEUES_SOFT_WRITERS,
    /** LK-1209: a soft writer waits for no time without readers. */
    IGNORES_TIMES;

    /** The machines of a member, done in that way. */
    public MachineFactory machines() {
        MachineFactory regular = new BakeryAlgorithm().memberMachines(all -> true);
        return key -> key.equals(BakeryKeys.HOME)
                ? new UnsafeHome(this)
                : key.equals(BakeryKeys.LEADER) ? new UnsafeLeader(this) : regular.create(key);
    }

    private static boolean passes(UnsafeBakery variant) {
        return variant == PASSES_WRITERS || variant == LETS_READERS_IN;
    }

    private static final class UnsafeHome extends BakeryHome {
        private final UnsafeBakery variant;

        UnsafeHome(UnsafeBakery variant) {
            this.variant = variant;
        }

        @Override
        boolean yields() {
            return variant != NEVER_YIELDS && variant != ANY_ORDER && !passes(variant);
        }

        @Override
        RequestMode mode(HomeRequest request) {
            RequestMode mode = super.mode(request);
            return mode.isSoft() && variant == QUEUES_SOFT_WRITERS
                    ? RequestMode.WRITER
                    : mode.isSoft() && variant == IGNORES_TIMES ? new RequestMode(mode.mode(), 0) : mode;
        }

        @Override
        boolean countsLives() {
            return variant != COUNTS_FORMER_LIVES;
        }

        @Override
        boolean needsLease() {
            return variant != NEEDS_NO_LEASE;
        }

        @Override
        boolean forgetsFormerLeaders() {
            return variant != COUNTS_FORMER_LEADERS;
        }

        @Override
        BakeryHome fresh() {
            return new UnsafeHome(variant);
        }
    }

    private static final class UnsafeLeader extends BakeryLeader {
        private final UnsafeBakery variant;

        UnsafeLeader(UnsafeBakery variant) {
            this.variant = variant;
        }

        @Override
        boolean isExclusive() {
            return variant != NOT_EXCLUSIVE;
        }

        @Override
        LeaderTable.@Nullable Entry next(LeaderTable table, Turn turn) {
            List<LeaderTable.Entry> waiting = table.waiting();
            if (variant == ANY_ORDER && !waiting.isEmpty()) {
                LeaderTable.Entry last = waiting.get(waiting.size() - 1);
                return table.fits(last) ? last : null;
            }
            if (passes(variant)) {
                boolean any = variant == LETS_READERS_IN;
                waiting.removeIf(entry -> !entry.mode.isReader() || !(any || table.fits(entry)));
                return waiting.isEmpty() ? super.next(table, turn) : waiting.get(0);
            }
            return super.next(table, turn);
        }

        @Override
        boolean heedsNumbers() {
            return variant != ANY_NUMBER;
        }

        @Override
        boolean keepsRemoved() {
            return variant != FORGETS_REMOVED;
        }

        @Override
        boolean forgetsWhatIsOver() {
            return variant != KEEPS_WHAT_IS_OVER;
        }

        @Override
        boolean maySpeak(Turn turn) {
            return variant == SPEAKS_EARLY || super.maySpeak(turn);
        }

        @Override
        boolean heedsSilences() {
            return variant != FORGETS_SILENCES;
        }

        @Override
        long floor(long inherited) {
            return variant == NO_FLOOR ? 0 : super.floor(inherited);
        }

        @Override
        long silenceOfSeat(Turn turn) {
            return variant == SPEAKS_IN_A_NEW_SEAT ? 0 : super.silenceOfSeat(turn);
        }

        @Override
        long floorOfSeat(long recorded) {
            return variant == NO_FLOOR_OF_SEATS ? 0 : super.floorOfSeat(recorded);
        }

        @Override
        BakeryLeader fresh() {
            return new UnsafeLeader(variant);
        }
    }
}
