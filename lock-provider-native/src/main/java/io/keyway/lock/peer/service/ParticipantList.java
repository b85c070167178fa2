// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Holders, waiters and soft writers, in parts that fit into messages. Beyond a bound they are counted only, so that no
 * answer fills the buffers of a connection.
 */
public final class ParticipantList {
    /** The most characters of one part; at most three bytes each, and a frame has 64 KiB. */
    private static final int PART = 12_000;

    /** The most characters of all parts. */
    private static final int ALL = 1_000_000;

    /** What a participant takes beside its texts. */
    private static final int ONE = 40;

    private static final int PAIR = 4;

    /**
     * What fits into one message.
     *
     * @param holders those with a token
     * @param softWriters who waits without a place in the queue
     * @param more how many were added and are in no part; 0 in all parts but the last
     */
    public record Part(
            List<Participant> holders,
            List<Participant> waiters,
            List<Participant> softWriters,
            int more,
            boolean last) {}

    private record Listed(Participant who, boolean isSoft) {}

    /** Those that are full. */
    private final List<List<Listed>> parts = new ArrayList<>();

    private List<Listed> part = new ArrayList<>();
    private int inPart;
    private int inAll;
    private int more;

    /** A holder, or one that waits in the queue. */
    public void add(Participant participant) {
        add(participant, false);
    }

    /** One that waits without a place in the queue. */
    public void addSoftWriter(Participant participant) {
        add(participant, true);
    }

    private void add(Participant participant, boolean isSoft) {
        int size = size(participant.owner());
        if (inAll + size > ALL) {
            more++;
            return;
        }
        if (inPart + size > PART || part.size() == LockFields.MAX_PARTICIPANTS) {
            parts.add(List.copyOf(part));
            part = new ArrayList<>();
            inPart = 0;
        }
        part.add(new Listed(participant, isSoft));
        inPart += size;
        inAll += size;
    }

    private static int size(Owner owner) {
        int size = ONE + owner.client().length();
        for (Map.Entry<String, String> pair : owner.metadata().entrySet()) {
            size += PAIR + pair.getKey().length() + pair.getValue().length();
        }
        return size;
    }

    /** How many were added and are in no part. */
    public int more() {
        return more;
    }

    /** All parts, in order; at least one. */
    public List<Part> parts() {
        List<Part> all = new ArrayList<>(parts.size() + 1);
        parts.forEach(full -> all.add(part(full, false)));
        all.add(part(part, true));
        return all;
    }

    private Part part(List<Listed> of, boolean last) {
        List<Participant> holders = new ArrayList<>();
        List<Participant> waiters = new ArrayList<>();
        List<Participant> softWriters = new ArrayList<>(0);
        for (Listed each : of) {
            (each.isSoft() ? softWriters : each.who().token() != 0 ? holders : waiters).add(each.who());
        }
        return new Part(List.copyOf(holders), List.copyOf(waiters), List.copyOf(softWriters), last ? more : 0, last);
    }
}
