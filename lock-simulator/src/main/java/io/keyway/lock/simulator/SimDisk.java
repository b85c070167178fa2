// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.member.StoredList;
import io.keyway.lock.peer.session.MemberPromise;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The member file of one member: what it forced last, and copies that somebody took of it. */
final class SimDisk {
    /** What the file says at one time. */
    private record Content(
            long epoch, @Nullable MemberPromise record, Optional<StoredList> list, long maxTtl, long longestTtl) {}

    private static final Content NOTHING = new Content(0, null, Optional.empty(), 0, 0);

    private final List<Content> copies = new ArrayList<>();
    private Content content = NOTHING;
    private boolean original = true;

    /**
     * A member starts. Its epoch, which it forces before it does anything, is higher than all that the file knows.
     *
     * @param least the lowest that it may be
     * @param maxTtl of its leases
     */
    void start(long least, long maxTtl) {
        copies.add(content);
        content = new Content(
                Math.max(content.epoch() + 1, least),
                content.record(),
                content.list(),
                maxTtl,
                Math.max(content.longestTtl(), maxTtl));
    }

    /** It has opened: leases of former lives are over. */
    void opened() {
        content = new Content(content.epoch(), content.record(), content.list(), content.maxTtl(), content.maxTtl());
    }

    /** With what {@code maxTtl} the last life ran; 0 if that is not known. */
    long maxTtl() {
        return content.maxTtl();
    }

    /** The longest lease of the last life and of those whose leases it waited for; 0 if that is not known. */
    long longestTtl() {
        return content.longestTtl();
    }

    void forced(Object what) {
        if (what instanceof MemberPromise forced) {
            // Of two that come at one instant the later promise stands, whichever is written last.
            MemberPromise before = content.record();
            boolean later = before == null || forced.horizon() - before.horizon() >= 0;
            content = new Content(
                    Math.max(content.epoch(), forced.epoch()),
                    later ? forced : before,
                    content.list(),
                    content.maxTtl(),
                    content.longestTtl());
        }
    }

    /** The member list of a member is on the disk, as opened or not. */
    void forced(StoredList list) {
        content = new Content(
                content.epoch(), content.record(), Optional.of(list), content.maxTtl(), content.longestTtl());
    }

    /**
     * What a member that starts takes as its epoch: higher than all that it forced; or not, if its disk was put back.
     */
    long startEpoch() {
        return content.epoch();
    }

    /** What it promised; null if that is not known, or if it may not be trusted since the file is a copy. */
    @Nullable
    MemberPromise record() {
        return original ? content.record() : null;
    }

    /** The list in the file; a copy's was not opened as far as one can know. */
    Optional<StoredList> list() {
        return original ? content.list() : content.list().map(list -> new StoredList(list.members(), false));
    }

    /** From now on this is the original. */
    void adopt() {
        original = true;
    }

    /** The disk is as it was at one of the former starts. */
    void restore(long which) {
        if (!copies.isEmpty()) {
            content = copies.get((int) Long.remainderUnsigned(which, copies.size()));
            original = false;
        }
    }

    /** The file is gone, and all copies of it. */
    void wipe() {
        content = NOTHING;
        copies.clear();
        original = true;
    }
}
