// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.Shard;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.DuplicateMember;
import io.keyway.lock.peer.session.EpochAdopted;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.wire.FrameCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One of the cells of a cluster's member, on its event loop. */
public final class MemberCell implements CellLoop.Surroundings {
    /** Whom a cell tells what concerns all of them. On the cell's thread. */
    public interface Whole {
        void promise(MemberCell from, DurableRecord record, long ticket);

        void epochAdopted(MemberCell from, long epoch);

        /** The cell has failed and runs no more: the member must stop. */
        void failed();

        /** The cell grants from now on, or no longer. */
        void quarantined(MemberCell which, boolean quarantined);
    }

    private static final Logger LOG = LoggerFactory.getLogger(MemberCell.class);
    private static final long STALL_TOLERANCE = Duration.ofMillis(100).toNanos();

    private final LoopThread thread;
    private final Cell cell;
    private final CellLoop loop;
    private final FrameCodec codec;
    private final Whole whole;
    private boolean quarantined = true;
    private boolean failed;

    /** @param codec of that thread alone */
    public MemberCell(LoopThread thread, Cell cell, FrameCodec codec, Whole whole) {
        this.thread = thread;
        this.cell = cell;
        this.codec = codec;
        this.whole = whole;
        this.loop = new CellLoop(thread.loop(), cell, this, STALL_TOLERANCE);
    }

    /** Where connections to this cell go. */
    public Shard shard() {
        return new Shard(loop, codec);
    }

    public CellLoop loop() {
        return loop;
    }

    /** Tells the cell what it has to know before it hears anybody; returns when it does. Not on its thread. */
    public void begin(List<Input> inputs) {
        thread.run(() -> {
            loop.begin(inputs);
            turned(cell.sessions());
        });
    }

    /** Grants no more; returns whether it knows of every lease that may be believed in. Not on its thread. */
    public boolean closing() {
        boolean[] knowsAll = new boolean[1];
        thread.run(() -> {
            knowsAll[0] = !sessions().quarantined();
            loop.post(new Input.Closing());
        });
        return knowsAll[0];
    }

    /** What was queued before is done when this returns. Not on its thread. */
    public void settle() {
        thread.run(() -> {});
    }

    /** Ends; returns all grants, or nothing if they do not say everything. Not on its thread. */
    public Optional<List<GrantTable.Entry>> shut() {
        List<Optional<List<GrantTable.Entry>>> table = new ArrayList<>();
        thread.run(() -> {
            loop.shut();
            table.add(failed ? Optional.empty() : GrantTable.of(cell, LeaseKeys.ALGORITHM, System.nanoTime()));
        });
        return table.get(0);
    }

    private MemberSessions sessions() {
        return (MemberSessions) cell.sessions();
    }

    @Override
    public void dial(long link) {
        throw new IllegalStateException("a member's cell does not dial");
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        whole.promise(this, record, ticket);
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        failed = true;
        LOG.error("a cell of this member has failed, so the member ends", why);
        whole.failed();
        return Optional.empty();
    }

    @Override
    public void heard(Notice notice) {
        if (notice instanceof LockNotice.Alarm alarm) {
            LOG.warn("{}", alarm.shown());
        } else if (notice instanceof EpochAdopted adopted) {
            whole.epochAdopted(this, adopted.epoch());
        } else if (notice instanceof DuplicateMember doubled) {
            LOG.error(
                    "two processes run as member {}, and both talk to this one: the later one is refused; end it at once, and remove its copy of the data directory",
                    doubled.node());
        }
    }

    @Override
    public void turned(SessionLayer layer) {
        boolean now = sessions().quarantined();
        if (now != quarantined) {
            quarantined = now;
            whole.quarantined(this, now);
        }
    }
}
