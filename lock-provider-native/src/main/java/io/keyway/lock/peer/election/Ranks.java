// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * In which order the members are to lead, among those of one priority, where the cells of each number elect on their
 * own: another one for each number, so that all members lead as many groups, and those of a member that is lost go to
 * all others evenly. Where there is but one group chance decides.
 *
 * @param shard the number of the cells, from 0
 * @param shards how many there are of each member
 */
record Ranks(int shard, int shards) {
    private static final int BITS = 6;

    /** Of a member that has one cell. */
    static final Ranks NONE = new Ranks(0, 1);

    /**
     * All members, the first choice first: the permutation whose number is that of the cells, in the factorial number
     * system.
     */
    List<String> order(List<String> members) {
        List<String> left = new ArrayList<>(members);
        Collections.sort(left);
        List<String> order = new ArrayList<>(left.size());
        int rest = shard;
        while (!left.isEmpty()) {
            Collections.rotate(left, -(rest % left.size()));
            rest /= left.size();
            order.add(left.remove(0));
        }
        return order;
    }

    /** The random part of that member's identifier: its place in the order comes before what it has drawn. */
    int before(int drawn, String member, List<String> members) {
        if (shards == 1) {
            return drawn;
        }
        int last = (1 << BITS) - 1;
        int place = order(members).indexOf(member);
        int rank = place < 0 ? last : Math.min(place, last);
        return rank << (Identifier.RANDOM_BITS - BITS) | drawn >>> BITS;
    }
}
