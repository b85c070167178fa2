// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** How a client introduces itself to a member, and whom it talks to. */
final class ClientHandshake {
    /** Why a client does not talk to a member; {@code lasting} as in {@link RefuseCode#lasting}. */
    record Objection(String why, boolean lasting) {}

    /** After so long without an answer a member suspects another one; it stands still for a second now and then. */
    private static final long ATTENTION = 2_000_000_000L;
    /** A client of the leader notices within half of that time that it does not answer, whatever its ttl is. */
    private static final long CLIENT_ATTENTION = 2 * ATTENTION;

    /** The most epochs that a hello tells of. */
    private static final int MAX_SEEN = 1;

    private final SessionSettings settings;
    private final Incarnation self;
    private SessionTarget target;
    private long life;
    private long guard;
    private @Nullable WelcomeInfo lastWelcome;
    private final Map<String, Seen> seen = new TreeMap<>();
    /** The highest epoch of who let this client in last. */
    private long heard;
    /** Incarnations of the member whose grants may still be believed, and until when. */
    private final Map<Incarnation, Long> frozen = new LinkedHashMap<>();

    ClientHandshake(SessionSettings settings, Incarnation self, SessionTarget target, List<Seen> seen) {
        this.settings = settings;
        this.self = self;
        this.target = target;
        if (seen.size() > MAX_SEEN) {
            throw new IllegalArgumentException(seen.size() + " epochs seen; at most " + MAX_SEEN);
        }
        for (Seen one : seen) {
            this.seen.put(one.node(), one);
        }
    }

    void lives(long byItsByte, long byItsGuard) {
        life = byItsByte;
        guard = byItsGuard;
    }

    /** False while the client has no byte that shows that it lives, though it should. */
    boolean possible() {
        return life != Input.Reborn.NO_LIFE;
    }

    /** @param resume the session to go on with; null for a fresh one */
    Hello hello(long attempt, @Nullable Resume resume, Turn turn) {
        return new Hello(
                settings.wireLow(),
                settings.wireHigh(),
                settings.cluster(),
                settings.settingsHash(),
                target.role() == Role.MEMBER ? settings.membersHash() : 0,
                settings.algorithm(),
                target.role(),
                target.from(),
                target.node(),
                target.shard(),
                self,
                Nonce.draw(turn),
                attempt,
                life,
                guard,
                floorToGive(),
                List.copyOf(seen.values()),
                resume);
    }

    /** Only until a member has taken it, since epochs are kept; who is at work is not to be refused for it. */
    private long floorToGive() {
        return target.role() == Role.CLIENT && lastWelcome == null ? settings.tokenFloor() : 0;
    }

    /** Null if the member has proved itself and may be talked to. */
    @Nullable
    Objection objection(Hello hello, Challenge challenge, long now) {
        if (challenge.wire() < settings.wireLow() || challenge.wire() > settings.wireHigh()) {
            return new Objection("the member chose wire version " + challenge.wire(), false);
        }
        byte[] transcript = transcript(Role.MEMBER, hello, challenge);
        if (!settings.authenticator().accepts(transcript, challenge.mac())) {
            return new Objection(unproved(transcript, challenge.mac()), true);
        }
        frozen.values().removeIf(until -> now - until >= 0);
        if (frozen.containsKey(challenge.member())) {
            // A fresh session there would end the former one, and what is still believed of it.
            return new Objection("a former incarnation of the member answers while its grants are believed", false);
        }
        return null;
    }

    private String unproved(byte[] transcript, Mac mac) {
        if (!settings.authenticator().secret()) {
            return "the member has a shared secret and this end has none: add secretFile";
        }
        return "the member did not prove that it knows the shared secret: it has "
                + (Authenticator.none().accepts(transcript, mac) ? "none" : "another one than this end");
    }

    Proof proof(Hello hello, Challenge challenge) {
        return new Proof(settings.authenticator().prove(transcript(Role.CLIENT, hello, challenge)));
    }

    private static byte[] transcript(Role prover, Hello hello, Challenge challenge) {
        return Handshake.transcript(prover, hello, challenge.wire(), challenge.member(), challenge.nonce());
    }

    void freeze(Incarnation member, long until) {
        frozen.put(member, until);
    }

    /** The member has let this client in; returns what it said of itself. */
    WelcomeInfo welcomed(Welcome welcome, Incarnation member) {
        seen.clear(); // only the node that answers here is ever told
        seen.put(welcome.node(), new Seen(welcome.node(), welcome.epoch(), member));
        heard = welcome.epoch();
        if (!target.moves()) {
            target = target.at(welcome.node());
        }
        WelcomeInfo said = new WelcomeInfo(
                welcome.node(),
                member,
                welcome.epoch(),
                welcome.leastEpoch(),
                welcome.quarantine(),
                welcome.members(),
                welcome.shards(),
                welcome.fresh(),
                welcome.longestTtl());
        lastWelcome = said;
        return said;
    }

    /** The member that let this client in has come to that epoch, or to a later one. */
    void heard(long epoch) {
        WelcomeInfo welcome = lastWelcome;
        if (welcome != null && epoch > heard) {
            heard = epoch;
            seen.put(welcome.node(), new Seen(welcome.node(), epoch, welcome.incarnation()));
        }
    }

    /** False if another member answers than the one that is meant. */
    boolean expects(Welcome welcome) {
        return target.node().isEmpty() || target.node().equals(welcome.node());
    }

    /** Who answers, if it is not whom the session was with; which of the two, it does not say before its welcome. */
    String whoAnswers() {
        return target.moves()
                ? "another member serves now, or the same one after a restart"
                : "the member was restarted";
    }

    /** Whether another member may answer than the one before. */
    boolean moves() {
        return target.moves();
    }

    /** True if a session is wanted though nothing waits for it. */
    boolean demanded() {
        return switch (target.demand()) {
            case ON_DEMAND -> false;
            case UNTIL_WELCOMED -> lastWelcome == null;
            case ALWAYS -> true;
        };
    }

    /**
     * This client sends something at least four times in that time, though nothing waits; {@link Turn#NEVER} if only
     * when it has to. The next leader waits for the clients of the former one: so a client of a leader has to notice
     * that it was lost.
     */
    long attention() {
        if (target.moves()) {
            return Math.min(CLIENT_ATTENTION, settings.maxTtl());
        }
        return target.demand() == SessionTarget.Demand.ALWAYS ? attention(settings) : Turn.NEVER;
    }

    /** After so long without an answer a member suspects another one, to which it speaks four times in that time. */
    static long attention(SessionSettings settings) {
        return Math.min(ATTENTION, settings.maxTtl());
    }

    String why(Refuse refusal) {
        if (target.role() == Role.CLIENT && refusal.code() == RefuseCode.SETTINGS) {
            return "the members run with " + refusal.here() + ", this client with " + settings.settingsText() + ": say "
                    + refusal.here() + " in the URL";
        } else if (target.role() == Role.CLIENT && refusal.code() == RefuseCode.ALGORITHM) {
            return "the members serve " + refusal.here() + ", this client asks for " + settings.algorithmName()
                    + ": take a URL of theirs, as lock:native:" + refusal.here() + "://..., or other members";
        } else if (target.role() == Role.CLIENT && refusal.code() == RefuseCode.CLUSTER) {
            return "the members are of cluster " + refusal.here() + ", the URL says " + settings.cluster();
        }
        if (refusal.code() == RefuseCode.LOW_FLOOR) {
            return "this client asks for tokenFloor=" + refusal.there() + ", but another has given tokenFloor="
                    + refusal.here() + ", and it is only raised: write that one into this URL too, or leave it out";
        }
        if (refusal.code() == RefuseCode.HIGH_FLOOR) {
            return "tokenFloor=" + refusal.there() + " is above the tokens of the clients that are connected ("
                    + refusal.here() + "): it is given when they are gone, and leases of before are over";
        }
        if (refusal.code() == RefuseCode.DOUBLED) {
            return "another process runs as member " + target.from() + at(refusal.here())
                    + ", and lives; this one is seen" + at(refusal.there()) + ": end one of them";
        }
        if (refusal.code() == RefuseCode.NOT_LISTED && target.role() == Role.CLIENT) {
            return refusal.there() + " is no member: the members are " + refusal.here();
        }
        if (refusal.code() == RefuseCode.NOT_LISTED) {
            return "member " + target.from() + " is not in the list that counts there, which is " + refusal.here()
                    + ": add it, with keyway member add " + target.from();
        }
        if (refusal.code() == RefuseCode.NOT_LEADING) {
            return "no member that answers leads at this time";
        }
        String why = "the member refuses: " + refusal.code();
        return refusal.field().isEmpty()
                ? why
                : why + ", " + refusal.field() + " is " + refusal.here() + " there and " + ours(refusal) + " here";
    }

    private static String at(String address) {
        return address.isEmpty() ? "" : " at " + address;
    }

    /** A value that was compared by its hash, in words. */
    private String ours(Refuse refusal) {
        return switch (refusal.code()) {
            case ALGORITHM -> settings.algorithmName();
            case SETTINGS -> settings.settingsText();
            case MEMBERS -> settings.membersText();
            default -> refusal.there();
        };
    }

    ClientHandshake copy() {
        ClientHandshake copy = new ClientHandshake(settings, self, target, List.copyOf(seen.values()));
        copy.lastWelcome = lastWelcome;
        copy.heard = heard;
        copy.lives(life, guard);
        copy.frozen.putAll(frozen);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(self.high()).put(self.low()).put(life).put(guard);
        out.value(target).value(lastWelcome);
        out.put(seen.size());
        for (Seen one : seen.values()) {
            out.put(one.node()).put(one.epoch());
            out.put(one.incarnation().high()).put(one.incarnation().low());
        }
        out.put(frozen.size());
        for (Map.Entry<Incarnation, Long> entry : frozen.entrySet()) {
            out.put(entry.getKey().high()).put(entry.getKey().low()).time(entry.getValue());
        }
    }
}
