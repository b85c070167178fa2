// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lets a link in once it has answered this link's nonce, and if it is no older than what was let in before.
 *
 * <p><b>States</b> of a link: opened; its HELLO kept and answered with a CHALLENGE; then it is admitted, or
 * refused and hung up. <b>Invariants</b>: at most so many links are without proof, each for as long as the timeout; a
 * PROOF counts for the nonce of its own link only; of two links of one incarnation the one with the higher attempt
 * wins, in whatever order their bytes come ({@link NewestLinks}); a peer that has proved nothing learns nothing.
 */
final class ServerHandshake {
    private final SessionSettings settings;
    private final Membership membership;
    private final Incarnation self;
    private HalfOpen halfOpen = new HalfOpen();
    private NewestLinks newestLinks = new NewestLinks();
    /** When {@link #begin} has something to do; {@link Turn#NEVER} if nobody knocks, which is most of the time. */
    long nextWork = Turn.NEVER;

    ServerHandshake(SessionSettings settings, Membership membership, Incarnation self) {
        this.settings = settings;
        this.membership = membership;
        this.self = self;
    }

    /** What is due: links that did not prove themselves in time, clients that need not be known any more. */
    void begin(SessionTurn turn) {
        for (Map.Entry<Long, HalfOpen.Half> oldest = halfOpen.oldest();
                oldest != null && turn.now() - oldest.getValue().until() >= 0;
                oldest = halfOpen.oldest()) {
            hangUp(oldest.getKey(), turn);
        }
        newestLinks.forget(turn.now());
        changed();
    }

    private void changed() {
        Map.Entry<Long, HalfOpen.Half> oldest = halfOpen.oldest();
        long forget = newestLinks.nextForget();
        nextWork = oldest == null ? forget : Turn.earlier(oldest.getValue().until(), forget);
    }

    void opened(long link, SessionTurn turn) {
        Map.Entry<Long, HalfOpen.Half> oldest = halfOpen.oldest();
        if (oldest != null && halfOpen.size() >= settings.maxHalfOpen()) {
            hangUp(oldest.getKey(), turn); // whoever means it has proved itself by now
        }
        halfOpen.opened(link, turn.now() + settings.proofTimeout());
        changed();
    }

    void closed(long link) {
        halfOpen.remove(link);
        changed();
    }

    /**
     * Takes a frame of a link without session; returns the hello of a client that has just proved itself.
     *
     * @param peers null if this member talks to no others
     */
    @Nullable
    Hello arrived(long link, Frame frame, @Nullable Fellows peers, SessionTurn turn) {
        HalfOpen.Half half = halfOpen.get(link);
        if (half == null) {
            return null; // hung up before; bytes that were on their way
        }
        if (frame instanceof Hello hello) {
            if (half.hello() == null) {
                challenge(link, half, hello, turn);
            }
            return null;
        }
        Hello hello = half.hello();
        Nonce nonce = half.nonce();
        if (!(frame instanceof Proof proof) || hello == null || nonce == null) {
            hangUp(link, turn);
            return null;
        }
        byte[] transcript = Handshake.transcript(Role.CLIENT, hello, half.wire(), self, nonce);
        if (!settings.authenticator().accepts(transcript, proof.mac())) {
            refuse(link, Handshake.refuse(RefuseCode.NOT_AUTHENTICATED), turn);
            return null;
        }
        Refuse difference = Handshake.difference(hello, settings, membership, peers);
        if (difference != null) {
            boolean meant = hello.node().equals(membership.node());
            if (meant && hello.role() == Role.MEMBER && peers != null && Handshake.isOfCluster(difference)) {
                peers.refused(hello.from());
            }
            refuse(link, difference, turn);
            return null;
        }
        return hello;
    }

    /** Refuses a link if its client has been let in over a newer one; true if it did. */
    boolean refusesOld(long link, Hello hello, SessionTurn turn) {
        boolean old = newestLinks.stale(hello.client(), hello.attempt());
        if (old) {
            turn.goal(SessionGoal.STALE_HELLO_REFUSED);
            refuse(link, new Refuse(RefuseCode.STALE_ATTEMPT, "attempt", "newer", "" + hello.attempt()), turn);
        }
        return old;
    }

    /** Its client has proved itself, and waits for its welcome. */
    void waits(long link, long nanos, SessionTurn turn) {
        closed(link);
        turn.transmit(link, new Wait(nanos));
    }

    private void challenge(long link, HalfOpen.Half half, Hello hello, SessionTurn turn) {
        int wire = Handshake.wire(hello, settings);
        if (wire == 0) {
            refuse(link, Handshake.otherWire(settings, hello.wireLow(), hello.wireHigh()), turn);
            return;
        }
        Nonce nonce = Nonce.draw(turn);
        halfOpen.keep(link, half, hello, nonce, wire);
        Mac mac = settings.authenticator().prove(Handshake.transcript(Role.MEMBER, hello, wire, self, nonce));
        turn.transmit(link, new Challenge(wire, self, nonce, mac));
    }

    void admitted(long link, Hello hello, long session) {
        halfOpen.remove(link);
        newestLinks.admit(hello.client(), hello.attempt(), session);
        changed();
    }

    /** A session is over; the number of its last link is remembered for as long as an older one can be half-open. */
    void ended(Incarnation client, Turn turn) {
        newestLinks.ended(client, turn.now() + settings.proofTimeout());
        changed();
    }

    /** The session of that client; 0 if it has none. */
    long session(Incarnation client) {
        return newestLinks.session(client);
    }

    /** True if the number of its last link is known. */
    boolean remembers(Incarnation client) {
        return newestLinks.remembers(client);
    }

    void refuse(long link, Refuse refusal, SessionTurn turn) {
        turn.transmit(link, refusal);
        hangUp(link, turn);
    }

    /** Whatever that member has said on links that have not proved themselves is old. */
    void forgetHellos(String from, SessionTurn turn) {
        for (long link : halfOpen.saidHello(from)) {
            hangUp(link, turn);
        }
    }

    private void hangUp(long link, SessionTurn turn) {
        halfOpen.remove(link);
        changed();
        turn.hangUp(link);
    }

    void stalled(long nanos) {
        halfOpen.shift(nanos);
        newestLinks.shift(nanos);
        changed();
    }

    ServerHandshake copy() {
        ServerHandshake copy = new ServerHandshake(settings, membership, self);
        copy.halfOpen = halfOpen.copy();
        copy.newestLinks = newestLinks.copy();
        copy.nextWork = nextWork;
        return copy;
    }

    void encode(StateEncoder out) {
        halfOpen.encode(out);
        newestLinks.encode(out);
    }

    /** The links that have not proved themselves: no more than the limit, none for longer than the timeout. */
    private static final class HalfOpen {
        /** What a hello left: nothing but itself, and the nonce that it was answered with. */
        record Half(
                long until, @Nullable Hello hello, @Nullable Nonce nonce, int wire) {}

        private final LinkedHashMap<Long, Half> links = new LinkedHashMap<>();

        int size() {
            return links.size();
        }

        void opened(long link, long until) {
            links.put(link, new Half(until, null, null, 0));
        }

        @Nullable
        Half get(long link) {
            return links.get(link);
        }

        void keep(long link, Half half, Hello hello, Nonce nonce, int wire) {
            links.replace(link, new Half(half.until(), hello, nonce, wire));
        }

        void remove(long link) {
            links.remove(link);
        }

        /** The links on which a member of that id has said hello. */
        List<Long> saidHello(String from) {
            List<Long> said = new ArrayList<>();
            links.forEach((link, half) -> {
                if (half.hello() != null && half.hello().from().equals(from)) {
                    said.add(link);
                }
            });
            return said;
        }

        /** The one that was opened first; all have the same time. */
        Map.@Nullable Entry<Long, Half> oldest() {
            return links.isEmpty() ? null : links.entrySet().iterator().next();
        }

        void shift(long nanos) {
            links.replaceAll((link, half) -> new Half(half.until() + nanos, half.hello(), half.nonce(), half.wire()));
        }

        HalfOpen copy() {
            HalfOpen copy = new HalfOpen();
            copy.links.putAll(links);
            return copy;
        }

        void encode(StateEncoder out) {
            out.put(links.size());
            for (Map.Entry<Long, Half> entry : links.entrySet()) {
                Half half = entry.getValue();
                out.put(entry.getKey()).time(half.until()).put(half.wire());
                out.value(half.hello()).value(half.nonce());
            }
        }
    }
}
