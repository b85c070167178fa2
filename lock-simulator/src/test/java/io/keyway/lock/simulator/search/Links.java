// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

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

    final int members;
    final int clients;
    /** How many frames stand on a link at the most. */
    final int mostToMember;

    final int mostToClient;
    private final int mostBetween;
    /** The budgets: restarts, forgets, deaths, drifts, the lease of the last drift, withdrawals, ticks, pauses. */
    final int restarts;

    final int forgets;
    final int deaths;
    final int drifts;
    final int calm;
    final int withdrawals;
    final int ticks;
    final int pauses;
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
        members = scope.members.size();
        clients = scope.clients();
        mostToMember = scope.toMember;
        mostToClient = scope.toClient;
        mostBetween = members == 1 ? 0 : 8;
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
        dead = pauses + 1;
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

    static long token(int[] state, int at) {
        return ((long) state[at] << 32) | (state[at + 1] & 0xffffffffL);
    }

    static void token(int[] state, int at, long token) {
        state[at] = (int) (token >>> 32);
        state[at + 1] = (int) token;
    }
}
