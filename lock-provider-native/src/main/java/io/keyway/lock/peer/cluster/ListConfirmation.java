// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.StoredList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides when a member that starts may open under its member list, so that no name ever has two managers: one under
 * the former list, one under the new one.
 *
 * <p>A member whose file says that it has opened under this very list opens without asking. Every other one forces the
 * list to its disk before it listens, and opens only after every other member of the list has said that it runs with
 * it, plus a quarantine from the last such word: as long as the longest lease that any of them may have granted under a
 * former list, since the list and {@code maxTtl} may change together. Whoever confirms serves no former list any more,
 * has forgotten what it granted under it, and will not go back without being confirmed in turn. Members that are no
 * longer in the list cannot be asked; that they have ended is the operator's word.
 *
 * <p>A plain state machine: whoever runs it brings the time, the messages and the disk.
 */
public final class ListConfirmation {
    private final boolean fresh;
    private final boolean changed;
    private long quarantine;
    private final Set<String> awaited;
    private boolean allFresh;
    private long openAt = Turn.NEVER;
    private long epoch;

    private ListConfirmation(boolean fresh, boolean changed, long quarantine, Collection<String> awaited) {
        this.fresh = fresh;
        this.changed = changed;
        this.quarantine = quarantine;
        this.awaited = new TreeSet<>(awaited);
        this.allFresh = fresh;
    }

    /**
     * A member starts.
     *
     * @param self its id, one of {@code members}
     * @param members the list that it was given
     * @param stored what its file says; empty if there is none that can be read
     * @param fresh this life is the first use of the cluster, by the operator's word
     * @param removed former members of which the operator says that they have ended for good
     * @param quarantine how long leases may last that this member granted in a former life, in nanoseconds
     * @param now on the clock of all later times
     * @throws IllegalArgumentException if the lists do not allow a start, with what is wrong and what to do
     */
    public static ListConfirmation start(
            String self,
            Collection<String> members,
            Optional<StoredList> stored,
            boolean fresh,
            Set<String> removed,
            long quarantine,
            long now) {
        Set<String> list = new TreeSet<>(members);
        if (!list.contains(self)) {
            throw new IllegalArgumentException(
                    self + " is not in its own member list " + shown(list) + "; add it, or name another id");
        }
        Set<String> both = new TreeSet<>(removed);
        both.retainAll(list);
        if (!both.isEmpty()) {
            throw new IllegalArgumentException(
                    shown(both) + " cannot be removed and be in the member list " + shown(list) + " at the same time");
        }
        stored.ifPresent(last -> checkMissing(last.members(), list, removed));
        boolean same = stored.isPresent()
                && stored.get().opened()
                && stored.get().members().equals(List.copyOf(list));
        list.remove(self);
        ListConfirmation start = new ListConfirmation(fresh, !same, quarantine, same ? Set.of() : list);
        if (same) {
            start.openAt = now;
        } else {
            start.settle(now);
        }
        return start;
    }

    /** Of a cluster whose members know themselves which list counts: nobody is asked. */
    static ListConfirmation unneeded(long now) {
        ListConfirmation start = new ListConfirmation(false, false, 0, Set.of());
        start.openAt = now;
        return start;
    }

    private static void checkMissing(List<String> former, Set<String> list, Set<String> removed) {
        Set<String> missing = new TreeSet<>(former);
        missing.removeAll(list);
        missing.removeAll(removed);
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("the member list was " + shown(former) + " and is to be " + shown(list)
                    + ", without " + shown(missing)
                    + ": end it for good on its machine, then name it as removed (--removed "
                    + missing.iterator().next()
                    + "), by which you say that it has ended");
        }
    }

    private static String shown(Collection<String> members) {
        return String.join(",", members);
    }

    /** Whether the list must be on disk, as not opened, before this member listens. */
    public boolean changed() {
        return changed;
    }

    /** Who has not confirmed yet, in the order of the ids. */
    public List<String> awaited() {
        return Collections.unmodifiableList(new ArrayList<>(awaited));
    }

    /**
     * Another member has said, in its welcome, that it runs with this list; it has it on disk then.
     *
     * @param othersFresh whether its life, too, is the first use of the cluster
     * @param leastEpoch with which this member is to open, by what the other one knows
     * @param itsQuarantine how long leases may last that it granted in a former life, in nanoseconds
     */
    public void confirmed(String node, boolean othersFresh, long leastEpoch, long itsQuarantine, long now) {
        if (awaited.remove(node)) {
            epoch = Math.max(epoch, leastEpoch);
            quarantine = Math.max(quarantine, itsQuarantine);
            allFresh &= othersFresh;
            settle(now);
        }
    }

    private void settle(long now) {
        if (awaited.isEmpty()) {
            openAt = allFresh ? now : now + quarantine;
        }
    }

    /**
     * From when on this member may grant, as far as the list goes; {@link Turn#NEVER} while somebody is awaited. Once
     * it opens, a changed list is forced to the disk as opened.
     */
    public long openAt() {
        return openAt;
    }

    /**
     * The highest epoch that those who confirmed have told, 0 if none was to. A member that opens takes one that is no
     * lower: what the others granted under a former list has lower epochs, since each has started anew since, and so
     * the tokens of a name rise when another member decides on it. What a former life of this member was told is lower,
     * too, though its file be lost. Of members that were removed nobody can say.
     */
    public long epoch() {
        return epoch;
    }

    /** Whether nothing was ever granted in this cluster, as far as all members know. */
    public boolean firstUse() {
        return awaited.isEmpty() && allFresh && changed;
    }

    /** An independent machine of equal state. */
    public ListConfirmation copy() {
        ListConfirmation copy = new ListConfirmation(fresh, changed, quarantine, awaited);
        copy.allFresh = allFresh;
        copy.openAt = openAt;
        copy.epoch = epoch;
        return copy;
    }

    /** Writes the whole state. */
    public void encode(StateEncoder out) {
        out.put(fresh)
                .put(changed)
                .put(allFresh)
                .put(epoch)
                .put(quarantine)
                .time(openAt)
                .put(awaited.size());
        awaited.forEach(out::put);
    }
}
