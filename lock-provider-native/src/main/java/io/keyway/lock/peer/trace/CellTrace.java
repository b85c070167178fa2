// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView.Grant;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.peer.trace.TraceLog.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down what a cell is given and what it gives, at the edge of its driver: the cell itself knows nothing of it.
 * On the cell's thread.
 *
 * <p>A message is written down at both ends, each time with what is equal at both: the cell that it goes to or comes
 * from, the session, its direction, its numbers and its stamp. That finds the pairs, whatever the clocks say.
 */
public final class CellTrace {
    /** With more grants than that they are compared less often than after each turn. */
    private static final int MANY_GRANTS = 512;

    private static final Logger LOG = LoggerFactory.getLogger(CellTrace.class);

    private static final long LOOK_NANOS = 10_000_000;

    /** What a link leads to. */
    private static final class Line {
        /** The client's incarnation and the number of its attempt. */
        String attempt = "";
        /** Whoever is at the other end, by its incarnation or its id. */
        String peer = "";
        /** The cell that decides: the member's at the other end, or this one. */
        String authority = "";

        int shard;
    }

    private final TraceLog log;
    /** Null at a client. */
    private final @Nullable MemberSessions sessions;
    /** Of a member's cell: its id and its number; empty at a client. */
    private final String self;

    private final int shard;
    private final Map<Long, Line> lines = new HashMap<>();
    /** Who asks for what: by session and lock, the mode; for the text of a bar. */
    private final Map<String, String> modes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > 10_000;
        }
    };

    private Map<Grant, String> bars = Map.of();
    private long looked;
    private @Nullable String due;
    private boolean broken;

    private CellTrace(TraceLog log, @Nullable MemberSessions sessions, String self, int shard) {
        this.log = log;
        this.sessions = sessions;
        this.self = self;
        this.shard = shard;
    }

    /** Of a cell of a client. */
    public static CellTrace ofClient(TraceLog log) {
        return new CellTrace(log, null, "", 0);
    }

    /** Of that shard of a member. */
    public static CellTrace ofMember(TraceLog log, SessionLayer sessions, String node, int shard) {
        CellTrace trace = new CellTrace(log, (MemberSessions) sessions, node, shard);
        trace.turned();
        return trace;
    }

    /** Recording must not end what it records: what fails here ends the recording alone. */
    private void guarded(Runnable task) {
        if (broken) {
            return;
        }
        try {
            task.run();
        } catch (RuntimeException e) {
            broken = true;
            LOG.warn("what happens at {} is recorded no more", self.isEmpty() ? "this client" : self, e);
        }
    }

    /** The cell is about to have that input. */
    public void takes(Input input) {
        guarded(() -> taken(input));
    }

    private void taken(Input input) {
        due = null;
        if (input instanceof Input.Arrived arrived) {
            frame(Kind.CAME, arrived.link(), arrived.frame());
        } else if (input instanceof Input.Opened opened) {
            lines.put(opened.link(), new Line());
        } else if (input instanceof Input.Closed closed) {
            lost(closed.link(), "the connection ended: " + closed.why());
        } else if (input instanceof Input.Unfit unfit) {
            lost(unfit.link(), unfit.why());
        } else if (input instanceof Input.Tick) {
            due = "its timer";
        } else if (!(input instanceof Input.Command) && !(input instanceof Input.Forced)) {
            log.here("", words(input));
        }
    }

    private static String words(Input input) {
        if (input instanceof Input.Stalled stalled) {
            return "ran late by " + stalled.nanos() / 1_000_000 + " ms, which counts against nobody";
        } else if (input instanceof Input.Died died) {
            return "the process of session " + died.session() + " is dead";
        } else if (input instanceof Input.Reborn reborn) {
            return "everything of the session is dropped: " + reborn.why();
        } else if (input instanceof Input.Confirmed) {
            return "the member list is confirmed";
        } else if (input instanceof Input.EpochTaken taken) {
            return "goes on with epoch " + taken.epoch();
        }
        return input instanceof Input.Closing ? "closes" : input.getClass().getSimpleName();
    }

    private void lost(long link, String why) {
        Line line = lines.remove(link);
        log.here("", line == null || line.peer.isEmpty() ? why : why + " (with " + line.peer + ")");
    }

    /** The cell sends that frame. */
    public void sends(long link, Frame frame) {
        guarded(() -> sent(link, frame));
    }

    private void sent(long link, Frame frame) {
        if (due != null && frame instanceof Data data && !data.messages().isEmpty()) {
            log.here(FrameText.locks(data), due);
            due = null;
        }
        frame(Kind.SENT, link, frame);
    }

    private void frame(Kind kind, long link, Frame some) {
        SessionFrame frame = (SessionFrame) some;
        boolean dialled = sessions == null || link < 0; // a member's cell has negative numbers for those that it dials
        Line line = lines.computeIfAbsent(link, fresh -> new Line());
        if (line.authority.isEmpty()) {
            line.authority = dialled ? dialled(link) : self + "/" + shard;
            line.peer = dialled && sessions != null ? sessions.peers().dials(link) : line.peer;
        }
        if (frame instanceof Hello hello) {
            greets(line, hello);
        } else if (frame instanceof Welcome welcome && dialled) {
            line.peer = welcome.node();
            line.authority = welcome.node() + "/" + line.shard;
        }
        boolean fromClient = dialled == (kind == Kind.SENT);
        if (frame instanceof Data data) {
            if (!dialled) {
                heard(line, data, fromClient);
            }
            log.add(
                    kind,
                    line.peer
                            + '\t'
                            + key(line, data, fromClient)
                            + '\t'
                            + clock(data)
                            + '\t'
                            + FrameText.locks(data)
                            + '\t'
                            + TraceLog.shown(FrameText.of(data)));
        } else {
            String key = line.attempt + "/" + frame.getClass().getSimpleName();
            log.add(kind, line.peer + '\t' + key + "\t0\t\t" + TraceLog.shown(FrameText.of(frame)));
        }
    }

    /** Of a link whose beginning was not written down. */
    private String dialled(long link) {
        return sessions == null ? "" : sessions.peers().dials(link) + "/" + shard;
    }

    private void greets(Line line, Hello hello) {
        line.attempt = hello.client() + "/" + hello.attempt();
        line.shard = hello.shard();
        if (sessions == null) {
            log.named(hello.client().toString(), "");
        } else if (hello.role() == Role.MEMBER && hello.from().equals(self)) {
            log.named(hello.client().toString(), self);
        } else {
            line.peer = hello.client().toString();
            if (hello.role() == Role.MEMBER) {
                log.named(line.peer, hello.from());
            }
        }
    }

    /** Learns from what a client says or is told. */
    private void heard(Line line, Data data, boolean fromClient) {
        if (line.peer.isEmpty() && sessions != null) {
            Incarnation client = sessions.client(data.session());
            line.peer = client == null ? "" : client.toString();
        }
        for (Message each : fromClient ? data.messages() : List.<Message>of()) {
            FrameText.owner(each).filter(owner -> !owner.isEmpty()).ifPresent(owner -> log.named(line.peer, owner));
            FrameText.mode(each)
                    .ifPresent(
                            mode -> modes.put(data.session() + " " + each.key().id(), mode));
        }
    }

    private static String key(Line line, Data data, boolean fromClient) {
        return line.authority + "/" + data.session() + (fromClient ? "/c/" : "/m/") + data.seq() + "/" + data.ack()
                + "/"
                + (data.stamped() ? Long.toHexString(data.stamp()) : "-") + "/"
                + data.messages().size();
    }

    private static long clock(Data data) {
        long clock = data.clock();
        for (Message each : data.messages()) {
            clock = Math.max(clock, FrameText.stamp(each));
        }
        return clock;
    }

    /** The cell has run a batch of turns: which grants are there now? */
    public void turned() {
        guarded(this::compare);
    }

    private void compare() {
        if (sessions == null || (bars.size() > MANY_GRANTS && System.nanoTime() - looked < LOOK_NANOS)) {
            return;
        }
        looked = System.nanoTime();
        List<Grant> grants = sessions.grants();
        if (grants.size() == bars.size() && bars.keySet().containsAll(grants)) {
            return;
        }
        Map<Grant, String> now = new HashMap<>();
        List<Grant> fresh = new ArrayList<>();
        for (Grant each : grants) {
            String known = bars.get(each);
            now.put(each, known == null ? bar(each) : known);
            if (known == null) {
                fresh.add(each);
            }
        }
        bars.forEach((grant, bar) -> {
            if (!now.containsKey(grant)) {
                log.ends(bar);
            }
        });
        fresh.forEach(each -> log.begins(bar(each), fields(each)));
        bars = now;
    }

    private String bar(Grant grant) {
        return shard + " " + grant.peer().session() + " " + grant.token() + " "
                + grant.key().id();
    }

    private String fields(Grant grant) {
        String mode = Optional.ofNullable(
                        modes.get(grant.peer().session() + " " + grant.key().id()))
                .map(each -> each + " ")
                .orElse("");
        Incarnation client =
                sessions == null ? null : sessions.client(grant.peer().session());
        return "authority\t" + FrameText.name(grant.key().id()) + '\t' + grant.token() + '\t' + mode + "to "
                + (client == null ? "session " + grant.peer().session() : client);
    }
}
