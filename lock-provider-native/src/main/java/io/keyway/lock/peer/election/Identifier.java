// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

/**
 * The identifier of a member in elections: the smallest ones are elected. The source has it as 160 bits: 4 of priority,
 * 28 random ones, and the address, which is here the member's id.
 *
 * @param priority 0 for who leads already, 1 to 14, or {@link #OFF}
 * @param random 28 bits that a life of the member draws once; where the cells of each number elect on their own, {@link
 *     Ranks} come first in them
 * @param member its id
 */
public record Identifier(int priority, int random, String member) implements Comparable<Identifier> {
    /** Never elected unless nobody else is there. */
    public static final int OFF = 15;

    /** What a member has that says nothing of it. */
    public static final int USUAL = 14;

    static final int RANDOM_BITS = 28;

    @Override
    public int compareTo(Identifier other) {
        int by = Integer.compare(priority, other.priority);
        by = by != 0 ? by : Integer.compare(random, other.random);
        return by != 0 ? by : member.compareTo(other.member);
    }
}
