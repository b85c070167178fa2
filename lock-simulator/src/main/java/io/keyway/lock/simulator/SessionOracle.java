// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * What sessions promise to whatever runs over them: each message of a session once and in order; none of a session
 * after one of its successor; and no grant ended by the member while its client believes in it.
 */
final class SessionOracle {
    /** A session as its member knows it. */
    record Session(int memberLife, long number) {}

    /** One life of a client. */
    record Client(int node, int life) {}

    private record Stream(Object session, Object key) {}

    private record Token(Session session, Object key, long token) {}

    /** Asked when a grant ends: would the user still be told that it holds? */
    interface Believer {
        boolean believes();
    }

    private record Holding(Client client, Believer believer) {}

    private final Map<Stream, Long> heard = new HashMap<>();
    /** By the session's object: two lives of a member may give the same number to two sessions of a client. */
    private final IdentityHashMap<Object, Map<Object, Long>> answered = new IdentityHashMap<>();

    private final Map<Client, Session> newest = new HashMap<>();
    private final Map<Session, Client> owners = new HashMap<>();
    private final Map<Token, Holding> holdings = new HashMap<>();

    /** The member took a message. Its sender numbered those of that session and key from 1. */
    void heard(Session session, Client client, Object key, long index) {
        inOrder(session, heard.merge(new Stream(session, key), 1L, Long::sum), index);
        Session before = newest.put(client, session);
        if (before != null && before.memberLife() == session.memberLife() && before.number() > session.number()) {
            throw new Violation(
                    "DOUBLE SESSION", "a message of " + session + " after one of " + before + ", both of " + client);
        }
        owners.put(session, client);
    }

    /** A client took a message. There is one object for each session. */
    void answered(Object session, Object key, long index) {
        inOrder(
                session,
                answered.computeIfAbsent(session, fresh -> new HashMap<>()).merge(key, 1L, Long::sum),
                index);
    }

    private static void inOrder(Object stream, long expected, long index) {
        if (index != expected) {
            throw new Violation("ORDER", stream + ": message " + index + " instead of " + expected);
        }
    }

    void held(Client client, Session session, Object key, long token, Believer believer) {
        holdings.put(new Token(session, key, token), new Holding(client, believer));
    }

    void lost(Client client, Session session, Object key, long token) {
        Holding holding = holdings.get(new Token(session, key, token));
        if (holding != null && holding.client().equals(client)) {
            holdings.remove(new Token(session, key, token));
        }
    }

    /** The member ended a grant by itself. */
    void ended(Session session, Object key, long token) {
        Holding holding = holdings.remove(new Token(session, key, token));
        if (holding != null
                && holding.client().equals(owners.get(session))
                && holding.believer().believes()) {
            throw new Violation(
                    "EXPIRY",
                    "the member ended token " + token + " of " + session + ", and " + holding.client()
                            + " believes in it");
        }
    }

    /** The sessions that were heard of, and whose they are. */
    Map<Session, Client> owners() {
        return owners;
    }
}
