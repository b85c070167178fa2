// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

/**
 * What happened to one frame beyond the usual latency.
 *
 * @param link the client's first link is 0, and so on
 * @param frame the first frame of that link and direction is 1; a close counts as a frame
 * @param late nanoseconds
 */
record Mishap(int client, int link, int direction, long frame, boolean lost, boolean doubled, long late) {
    Mishap earlier(long frames) {
        return new Mishap(client, link, direction, frame - frames, lost, doubled, late);
    }

    long key() {
        return Noise.key(client, link, direction, frame);
    }

    @Override
    public String toString() {
        return "mishap client " + client + " link " + link + " direction " + direction + " frame " + frame + " lost "
                + lost + " doubled " + doubled + " late " + Nanos.text(late);
    }

    static Mishap parse(String line) {
        Words words = new Words(line);
        return new Mishap(
                words.number("client"),
                words.number("link"),
                words.number("direction"),
                words.number("frame"),
                words.flag("lost"),
                words.flag("doubled"),
                words.nanos("late"));
    }
}
