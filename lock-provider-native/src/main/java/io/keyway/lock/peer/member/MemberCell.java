// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.Shard;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.session.SessionLife;
import io.keyway.lock.peer.trace.CellTrace;
import io.keyway.lock.peer.trace.TraceLog;
import io.keyway.lock.peer.wire.FrameCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of the cells of a member, on its event loop. */
public final class MemberCell implements CellLoop.Surroundings, MemberTrace.Traced {
    private static final Logger LOG = LoggerFactory.getLogger(MemberCell.class);
    private static final long STALL_TOLERANCE = Duration.ofMillis(100).toNanos();

    private final Member member;
    private final int algorithm;
    private final LoopThread thread;
    private final Cell cell;
    private final CellLoop loop;
    private final FrameCodec codec;
    private final boolean watched;
    private boolean quarantined = true;
    private boolean failed;

    MemberCell(Member member, int algorithm, LoopThread thread, Cell cell, FrameCodec codec) {
        this.member = member;
        this.algorithm = algorithm;
        this.thread = thread;
        this.cell = cell;
        this.codec = codec;
        this.watched = member.watchesTurns();
        this.loop = new CellLoop(thread.loop(), cell, this, STALL_TOLERANCE);
    }

    /** Where connections to this cell go. */
    public Shard shard() {
        return new Shard(loop, codec);
    }

    public CellLoop loop() {
        return loop;
    }

    /** Which of the member's cells it is, from 0. */
    public int number() {
        return sessions().shard();
    }

    /** Of the cell's thread alone. */
    public FrameCodec codec() {
        return codec;
    }

    @Override
    public void trace(TraceLog log, String node, int shard) {
        thread.loop().execute(() -> loop.trace(CellTrace.ofMember(log, sessions(), node, shard)));
    }

    @Override
    public void traceNoMore() {
        thread.loop().execute(() -> loop.trace(null));
    }

    /** Shows the cell's sessions to the task, on the cell's thread. */
    public void look(Consumer<MemberSessions> task) {
        thread.loop().execute(() -> task.accept(sessions()));
    }

    /** Tells the cell what it has to know before it hears anybody; returns when it does. Not on its thread. */
    void begin(List<Input> inputs) {
        thread.run(() -> {
            loop.begin(inputs);
            turned(cell.sessions());
        });
    }

    /** Grants no more; returns whether it knows of every lease that may be believed in. Not on its thread. */
    boolean closing() {
        boolean[] knowsAll = new boolean[1];
        thread.run(() -> {
            // In quarantine a lease of an earlier run may live that nobody has told us of.
            knowsAll[0] = !sessions().quarantined();
            loop.post(new Input.Closing());
        });
        return knowsAll[0];
    }

    /** What was queued before is done when this returns. Not on its thread. */
    void settle() {
        thread.run(() -> {});
    }

    /** Ends; returns all grants and who has them, or nothing if they do not say everything. Not on its thread. */
    Optional<Remains> shut() {
        List<Remains> remains = new ArrayList<>();
        thread.run(() -> {
            loop.shut();
            if (!failed) {
                GrantTable.of(cell, algorithm, System.nanoTime())
                        .ifPresent(grants ->
                                remains.add(new Remains(grants, sessions().lives())));
            }
        });
        return remains.stream().findFirst();
    }

    /** What a cell leaves: its grants, and the sessions that may own them. */
    record Remains(List<GrantTable.Entry> grants, List<SessionLife> lives) {}

    private MemberSessions sessions() {
        return (MemberSessions) cell.sessions();
    }

    @Override
    public void dial(long link) {
        member.dial(this, sessions().peers().dials(link), link);
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        member.promise(this, record, ticket);
    }

    @Override
    public Optional<TracePage> asked(AskTrace ask) {
        return member.trace().asked(ask);
    }

    @Override
    public void linkGone(long link) {
        SessionLife life = sessions().life(link);
        if (life != null) {
            member.linkGone(life);
        }
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        failed = true;
        member.failed(why);
        return Optional.empty();
    }

    @Override
    public void heard(Notice notice) {
        if (notice instanceof LockNotice.Alarm alarm) {
            LOG.warn("{}", alarm.shown());
        } else {
            member.told(this, notice);
        }
    }

    @Override
    public void turned(SessionLayer layer) {
        MemberSessions sessions = (MemberSessions) layer;
        boolean now = sessions.quarantined();
        if (now != quarantined) {
            quarantined = now;
            member.quarantined(this, now);
        }
        if (watched) {
            member.turned(sessions);
        }
    }
}
