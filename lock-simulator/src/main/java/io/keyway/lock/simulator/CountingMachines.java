// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The least algorithm over the session machines: numbered questions and answers, and grants that everybody may have.
 * What it tells lets oracles judge the sessions.
 */
final class CountingMachines {
    static final int ALGORITHM = 7;

    /** A user's question; {@code ttl} nanoseconds of a grant come with the answer. */
    record Want(long request, long ttl) implements Call {}

    /** The user gives back what it got with that request. */
    record Done(long request) implements Call {}

    /** {@code index} counts the messages of this key, session and direction, from 1. */
    record Ask(Key key, long index, long request, long ttl) implements Message {}

    record Give(Key key, long index, long token) implements Message {}

    record Answer(Key key, long index, long request, long token) implements Message {}

    /** At the member: a message came. */
    record Heard(Key key, Peer session, long index) implements Notice {}

    /** At the member: the sessions ended a grant, and not the client. */
    record Ended(Key key, Peer session, long token) implements Notice {}

    /** At the client: a message came. */
    record Answered(Key key, Peer session, long index, long request) implements Notice {}

    /** At the client: the user has the grant. */
    record Held(Key key, long request, Peer session, long token, Belief belief) implements Notice {}

    /** At the client: the grant is over. */
    record Lost(Key key, long request, Peer session, long token, String why) implements Notice {}

    private CountingMachines() {}

    static MachineFactory members() {
        return new MachineFactory() {
            @Override
            public Machine create(Key key) {
                return new MemberMachine(key);
            }
        };
    }

    static MachineFactory clients() {
        return new MachineFactory() {
            @Override
            public Machine create(Key key) {
                return new ClientMachine(key);
            }
        };
    }

    /** Counts per session what it received and sent. It never rests: what it forgot, it could not check. */
    private static final class MemberMachine implements Machine {
        private record Granted(Peer peer, long ttl) {}

        private final Key key;
        private final Map<Peer, Long> sent = new LinkedHashMap<>();
        private final Map<Long, Granted> grants = new LinkedHashMap<>();
        private long tokens;

        MemberMachine(Key key) {
            this.key = key;
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            if (message instanceof Ask ask) {
                turn.tell(new Heard(key, from, ask.index()));
                if (!sent.containsKey(from)) {
                    turn.member().await(from, key, Nanos.SECOND);
                }
                long token = 0;
                if (ask.ttl() > 0) {
                    token = ++tokens;
                    grants.put(token, new Granted(from, ask.ttl()));
                    turn.member().grant(from, key, token, ask.ttl());
                }
                long index = sent.merge(from, 1L, Long::sum);
                turn.send(from, new Answer(key, index, ask.request(), token));
            } else if (message instanceof Give give) {
                turn.tell(new Heard(key, from, give.index()));
                Granted granted = grants.remove(give.token());
                if (granted != null) {
                    turn.member().ungrant(from, key, give.token(), granted.ttl());
                }
            }
        }

        @Override
        public void called(Call call, Turn turn) {
            if (call instanceof MemberView.Expired expired) {
                if (grants.remove(expired.token()) != null) {
                    turn.tell(new Ended(key, expired.peer(), expired.token()));
                }
            } else if (call instanceof MemberView.SessionEnded ended) {
                sent.remove(ended.peer());
                List<Long> over = new ArrayList<>();
                grants.forEach((token, granted) -> {
                    if (granted.peer().equals(ended.peer())) {
                        over.add(token);
                    }
                });
                for (long token : over) {
                    grants.remove(token);
                    turn.tell(new Ended(key, ended.peer(), token));
                }
            }
        }

        @Override
        public void due(int slot, Turn turn) {}

        @Override
        public boolean atRest() {
            return sent.isEmpty() && grants.isEmpty() && tokens == 0;
        }

        @Override
        public Machine copy() {
            MemberMachine copy = new MemberMachine(key);
            copy.sent.putAll(sent);
            copy.grants.putAll(grants);
            copy.tokens = tokens;
            return copy;
        }

        @Override
        public void encode(StateEncoder out) {
            out.value(sent).value(grants).put(tokens);
        }
    }

    private static final class ClientMachine implements Machine {
        private static final class Grant {
            final long request;
            final long token;
            final long ttl;
            final Peer session;

            @Nullable
            Belief belief;

            Grant(long request, long token, long ttl, Peer session, @Nullable Belief belief) {
                this.request = request;
                this.token = token;
                this.ttl = ttl;
                this.session = session;
                this.belief = belief;
            }
        }

        private final Key key;
        private final Map<Long, Want> wants = new LinkedHashMap<>();
        private final Map<Long, Grant> offers = new LinkedHashMap<>();
        private final Map<Long, Grant> grants = new LinkedHashMap<>();
        private @Nullable Peer sentIn;
        private long index;
        private long awaiting;

        ClientMachine(Key key) {
            this.key = key;
        }

        @Override
        public void called(Call call, Turn turn) {
            ClientView client = turn.client();
            if (call instanceof Want want) {
                wants.put(want.request(), want);
                if (client.exists()) {
                    ask(want, turn);
                }
            } else if (call instanceof Done done) {
                Grant grant = grants.remove(done.request());
                if (grant != null) {
                    give(grant, turn);
                    unhold(grant.ttl, turn);
                }
            } else if (call instanceof ClientView.SessionOpen) {
                for (Want want : wants.values()) {
                    ask(want, turn);
                }
            } else if (call instanceof ClientView.SessionGone gone) {
                gone(gone, turn);
            } else if (call instanceof ClientView.Lapsed lapsed) {
                lapsed(lapsed.ttl(), turn);
            } else if (call instanceof ClientView.Echoed) {
                accept(turn);
            }
            await(turn);
        }

        private void ask(Want want, Turn turn) {
            turn.send(turn.client().session(), new Ask(key, next(turn), want.request(), want.ttl()));
        }

        private void give(Grant grant, Turn turn) {
            if (same(grant.session, turn.client().session())) {
                turn.send(grant.session, new Give(key, next(turn), grant.token));
            }
        }

        private long next(Turn turn) {
            Peer session = turn.client().session();
            if (!same(session, sentIn)) {
                index = 0;
                sentIn = session;
            }
            return ++index;
        }

        /** Two lives of a member may give the same number to two sessions; each session has its own object. */
        @SuppressWarnings("ReferenceEquality")
        private static boolean same(Peer one, @Nullable Peer other) {
            return one == other;
        }

        private void unhold(long ttl, Turn turn) {
            for (Grant grant : grants.values()) {
                if (grant.ttl == ttl) {
                    return;
                }
            }
            turn.client().unhold(key, ttl);
        }

        private void gone(ClientView.SessionGone gone, Turn turn) {
            offers.clear();
            if (!gone.restarted()) {
                for (Grant grant : List.copyOf(grants.values())) {
                    grants.remove(grant.request);
                    turn.tell(new Lost(key, grant.request, grant.session, grant.token, gone.why()));
                }
                return;
            }
            long last = Turn.NEVER;
            for (Grant grant : grants.values()) {
                long until = grant.belief == null ? turn.now() : grant.belief.deadline();
                last = last == Turn.NEVER || until - last > 0 ? until : last;
            }
            turn.timer(0, last);
        }

        private void lapsed(long ttl, Turn turn) {
            for (Grant grant : List.copyOf(grants.values())) {
                if (grant.ttl == ttl && same(grant.session, turn.client().session())) {
                    grants.remove(grant.request);
                    turn.tell(new Lost(key, grant.request, grant.session, grant.token, "lapsed"));
                    give(grant, turn);
                }
            }
        }

        /** The echo of the frame that brought the grants has been counted: belief is known. */
        private void accept(Turn turn) {
            for (Grant grant : offers.values()) {
                Belief belief = turn.client().belief(grant.ttl);
                if (belief.holds(turn.now())) {
                    turn.client().hold(key, grant.ttl);
                    grant.belief = belief;
                    grants.put(grant.request, grant);
                    turn.tell(new Held(key, grant.request, grant.session, grant.token, belief));
                } else {
                    give(grant, turn);
                    turn.tell(new Lost(key, grant.request, grant.session, grant.token, "dead on arrival"));
                }
            }
            offers.clear();
        }

        @Override
        public void received(Peer from, Message message, Turn turn) {
            if (message instanceof Answer answer) {
                turn.tell(new Answered(key, from, answer.index(), answer.request()));
                Want want = wants.remove(answer.request());
                if (answer.token() != 0) {
                    Grant grant = new Grant(
                            answer.request(),
                            answer.token(),
                            want == null ? 0 : want.ttl(),
                            turn.client().session(),
                            null);
                    if (want == null) {
                        give(grant, turn);
                    } else {
                        offers.put(answer.request(), grant);
                        turn.client().afterEcho(key);
                    }
                }
            }
            await(turn);
        }

        /** Grants of a former life of the member: their belief is frozen and ends by the clock. */
        @Override
        public void due(int slot, Turn turn) {
            for (Grant grant : List.copyOf(grants.values())) {
                if (grant.belief != null && !grant.belief.holds(turn.now())) {
                    grants.remove(grant.request);
                    turn.tell(new Lost(key, grant.request, grant.session, grant.token, "the member restarted"));
                }
            }
            await(turn);
        }

        private void await(Turn turn) {
            long needed = wants.isEmpty() && offers.isEmpty() ? 0 : Nanos.SECOND;
            if (needed == awaiting) {
                return;
            }
            if (awaiting != 0) {
                turn.client().unawait(key, awaiting);
            }
            awaiting = needed;
            if (needed != 0) {
                turn.client().await(key, needed);
            }
        }

        @Override
        public boolean atRest() {
            return false;
        }

        @Override
        public Machine copy() {
            ClientMachine copy = new ClientMachine(key);
            copy.wants.putAll(wants);
            offers.forEach((request, grant) -> copy.offers.put(request, copied(grant)));
            grants.forEach((request, grant) -> copy.grants.put(request, copied(grant)));
            copy.index = index;
            copy.sentIn = sentIn;
            copy.awaiting = awaiting;
            return copy;
        }

        private static Grant copied(Grant grant) {
            Belief belief = grant.belief;
            return new Grant(
                    grant.request,
                    grant.token,
                    grant.ttl,
                    grant.session,
                    belief == null ? null : new Belief(belief.ttl(), belief.deadline()));
        }

        @Override
        public void rebind(SessionLayer sessions) {
            if (sessions instanceof ClientView client) {
                for (Grant grant : grants.values()) {
                    if (same(grant.session, client.session())) {
                        grant.belief = client.belief(grant.ttl);
                    }
                }
            }
        }

        @Override
        public void encode(StateEncoder out) {
            out.value(wants).put(index).put(awaiting).put(offers.size()).put(grants.size());
            for (Grant grant : offers.values()) {
                out.put(grant.request).put(grant.token).put(grant.ttl).put(grant.session);
            }
            for (Grant grant : grants.values()) {
                out.put(grant.request).put(grant.token).put(grant.ttl).put(grant.session);
                out.time(grant.belief == null ? Turn.NEVER : grant.belief.deadline());
            }
        }
    }
}
