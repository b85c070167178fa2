// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/**
 * What happened to one frame beyond the usual latency: to the first one that is sent at that time or later. It is known
 * by its time and not by its number, so that it finds a frame when a plan has been made smaller.
 *
 * @param at real nanoseconds from the start of the world
 * @param client whose links it is about: who dialled them
 * @param member to whom they go
 * @param direction {@link SimLink#TO_MEMBER} or {@link SimLink#TO_CLIENT}
 * @param late nanoseconds
 */
record Mishap(long at, int client, int member, int direction, boolean lost, boolean doubled, long late) {
    Mishap of(int other) {
        return new Mishap(at, other, member, direction, lost, doubled, late);
    }

    @Override
    public String toString() {
        return "mishap at " + Nanos.text(at) + " client " + client + (member == 0 ? "" : " member " + member)
                + " direction " + direction + " lost " + lost + " doubled " + doubled + " late " + Nanos.text(late);
    }

    static Mishap parse(String line) {
        Words words = new Words(line);
        return new Mishap(
                words.nanos("at"),
                words.number("client"),
                words.has("member") ? words.number("member") : 0,
                words.number("direction"),
                words.flag("lost"),
                words.flag("doubled"),
                words.nanos("late"));
    }
}
