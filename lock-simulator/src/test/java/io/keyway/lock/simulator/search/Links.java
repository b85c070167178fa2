// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where what is in a state of a world: the numbers of its processes, what stands on the links, what may still go wrong,
 * and what the oracles remember.
 */
final class Links {
    /** No session has a higher number. */
    static final int SESSIONS = 31;

    // Of a client's link, from its place on
    static final int STATE = 0;
    static final int SESSION = 1;
    static final int HEARD = 2;
    static final int TO_MEMBER = 3;

    static final int UP = 0;
    static final int ENDED = 1;
    static final int RESTARTED = 2;
    static final int DOWN = 3;

    private final int lonely;
    final int members;
    final int clients;
    /** How many frames stand on a link at the most. */
    final int mostToMember;

    final int mostToClient;
    private final int mostBetween;
    /** In units: a stamp that is older gives no belief any more, and is as good as none. */
    private final int useful;
    /** The budgets: restarts, forgets, deaths, drifts, the lease of the last drift, withdrawals, ticks, pauses. */
    final int restarts;

    final int forgets;
    final int deaths;
    final int drifts;
    final int calm;
    final int withdrawals;
    final int ticks;
    final int pauses;
    /** How often the member may still be cut off that can be, and whether it is. */
    final int cuts;

    final int alone;
    /** A bit for each client that has ended. */
    final int dead;
    /** The highest token of a use, and of one for itself: two numbers each. */
    final int highest;

    final int highestAlone;
    final int width;
    private final int firstLink;
    private final int linkWidth;
    private final int firstPair;
    private final int pairWidth;

    Links(Scope scope) {
        lonely = scope.lonely;
        members = scope.members.size();
        clients = scope.clients();
        mostToMember = scope.toMember;
        mostToClient = scope.toClient;
        mostBetween = members == 1 ? 0 : 8;
        useful = scope.lease * 3 / 4;
        firstLink = members + clients;
        linkWidth = TO_MEMBER + 2 + 2 * (mostToMember + mostToClient);
        firstPair = firstLink + clients * linkWidth;
        pairWidth = 1 + pairs();
        restarts = firstPair + members * members * pairWidth;
        forgets = restarts + 1;
        deaths = forgets + 1;
        drifts = deaths + 1;
        calm = drifts + 1;
        withdrawals = calm + 1;
        ticks = withdrawals + 1;
        pauses = ticks + 1;
        cuts = pauses + 1;
        alone = cuts + 1;
        dead = alone + 1;
        highest = dead + 1;
        highestAlone = highest + 2;
        width = highestAlone + 2;
    }

    /** How many frames stand between two members at the most. */
    int pairs() {
        return mostBetween;
    }

    int client(int client) {
        return members + client;
    }

    int firstLink() {
        return firstLink;
    }

    int link(int client) {
        return firstLink + client * linkWidth;
    }

    /** Where the frames to that client are: their number, and each with the age of its echo. */
    int toClient(int client) {
        return link(client) + TO_MEMBER + 1 + 2 * mostToMember;
    }

    int toMember(int client) {
        return link(client) + TO_MEMBER;
    }

    /** Where the frames of one member to another one are. */
    int pair(int from, int to) {
        return firstPair + (from * members + to) * pairWidth;
    }

    /** Where the numbers of frames are, of all links. */
    List<Integer> queues() {
        List<Integer> all = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            all.add(toMember(client));
            all.add(toClient(client));
        }
        for (int pair = 0; members > 1 && pair < members * members; pair++) {
            all.add(pair(pair / members, pair % members));
        }
        return all;
    }

    /** Whether nothing comes through between those two. */
    boolean isCut(int[] state, int one, int other) {
        return state[alone] != 0 && (one == lonely || other == lonely);
    }

    boolean isDead(int[] state, int client) {
        return (state[dead] & (1 << client)) != 0;
    }

    /** Whether frames are on their way between members. */
    boolean arePairs(int[] state) {
        for (int pair = 0; members > 1 && pair < members * members; pair++) {
            if (state[pair(pair / members, pair % members)] > 0) {
                return true;
            }
        }
        return false;
    }

    static long token(int[] state, int at) {
        return ((long) state[at] << 32) | (state[at + 1] & 0xffffffffL);
    }

    static void token(int[] state, int at, long token) {
        state[at] = (int) (token >>> 32);
        state[at + 1] = (int) token;
    }

    /** A unit of time has passed since that stamp. */
    void older(int[] state, int at) {
        state[at] = state[at] < useful ? state[at] + 1 : Turns.NO_ECHO;
    }

    /** The same of all stamps on a link. */
    void older(int[] state, int queue, int width) {
        for (int i = 0; i < state[queue]; i++) {
            older(state, queue + width * (i + 1));
        }
    }

    /** Puts a frame on a link; false if it is full. */
    static boolean push(int[] state, int queue, int most, int frame, int age) {
        int size = state[queue];
        if (size == most) {
            return false;
        }
        state[queue + 1 + 2 * size] = frame;
        state[queue + 2 + 2 * size] = age;
        state[queue]++;
        return true;
    }

    /** As {@link #push}, between members, whose frames have no stamps. */
    boolean pushBetween(int[] state, int queue, int frame) {
        int size = state[queue];
        if (size == pairs()) {
            return false;
        }
        state[queue + 1 + size] = frame;
        state[queue]++;
        return true;
    }

    /** Takes the first frame off a link. */
    static void shift(int[] state, int queue, int width) {
        int size = --state[queue];
        System.arraycopy(state, queue + 1 + width, state, queue + 1, size * width);
        Arrays.fill(state, queue + 1 + size * width, queue + 1 + (size + 1) * width, 0);
    }

    static void clear(int[] state, int queue, int width) {
        Arrays.fill(state, queue, queue + 1 + width * state[queue], 0);
    }

    /** Whether that frame is on its way between two members. */
    static boolean stands(int[] state, int queue, int frame) {
        for (int i = 0; i < state[queue]; i++) {
            if (state[queue + 1 + i] == frame) {
                return true;
            }
        }
        return false;
    }
}
