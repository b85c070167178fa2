// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * The numbers of the members of a view, which outlive changes of the list: who stays keeps its number, and who comes
 * gets the next one after the last that was given. A number is free when its member has gone, and is given again when
 * all others have been. Immutable.
 *
 * @param numbers 1 to {@link #LARGEST}, each once, in the order of the members
 * @param last the one that was given last; 0 if none was
 */
public record MemberNumbers(List<Integer> numbers, int last) {
    /** The largest one: as many as a ticket can have. */
    public static final int LARGEST = 127;

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if two members have one number, or one has none
     */
    public MemberNumbers {
        numbers = List.copyOf(numbers);
        for (int number : numbers) {
            if (number < 1 || number > LARGEST) {
                throw new IllegalArgumentException("a member has the number " + number);
            }
        }
        if (new TreeSet<>(numbers).size() != numbers.size() || last < 0 || last > LARGEST) {
            throw new IllegalArgumentException("numbers of members: " + numbers + ", the last one " + last);
        }
    }

    /** Of a list before which there was none. */
    static MemberNumbers first(int members) {
        List<Integer> numbers = new ArrayList<>(members);
        for (int i = 1; i <= members; i++) {
            numbers.add(i);
        }
        return new MemberNumbers(numbers, members);
    }

    /** Of the list that comes after that one, which these are of. */
    MemberNumbers after(List<String> former, List<String> list) {
        TreeSet<Integer> taken = new TreeSet<>();
        for (String member : list) {
            int at = former.indexOf(member);
            if (at >= 0) {
                taken.add(numbers.get(at));
            }
        }
        List<Integer> next = new ArrayList<>(list.size());
        int given = last;
        for (String member : list) {
            int at = former.indexOf(member);
            if (at < 0) {
                do {
                    given = given % LARGEST + 1;
                } while (!taken.add(given));
            }
            next.add(at < 0 ? given : numbers.get(at));
        }
        return new MemberNumbers(next, given);
    }
}
