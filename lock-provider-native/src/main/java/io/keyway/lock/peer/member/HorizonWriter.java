// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.net.CellHost;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.session.MemberPromise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Keeps the promises of all cells of a member in its one file, on the disk's thread: the highest epoch of any cell, and
 * a horizon behind every lease of all. What several cells ask while the disk is busy becomes one write; what an earlier
 * write covers becomes none. Records of machines go to files of their own ({@link RecordFiles}).
 */
public final class HorizonWriter {
    /** Whether this process may still write. */
    public interface Leave {
        /** Returns normally if it may.
         *
         * @throws IOException if not, with the reason
         */
        void check() throws IOException;
    }

    private record Asked(CellHost cell, int number, DurableRecord record, long ticket) {}

    private final MemberFile file;
    private final RecordFiles records;
    private final MachineFacts facts;
    private final DiskThread disk;
    private final Leave leave;
    private final Consumer<IOException> failed;
    private final long beyond;
    /** The horizon of former lives. */
    private final long inherited;

    private final ConcurrentLinkedQueue<Asked> asked = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean due = new AtomicBoolean();
    // Of the disk's thread, after the start.
    private long epoch;
    private long largestTtl;
    private long horizon;
    private long kept;
    private boolean listOpened;

    /**
     * The first record of a life is on disk when this returns, and its files of records count.
     *
     * @param records where the records of the algorithm go
     * @param epoch of this life
     * @param largestTtl the longest lease of this life or of one before it, in nanoseconds
     * @param horizon no lease of before ends later, on the monotonic clock
     * @param kept until when places of before are kept, on the monotonic clock
     * @param listOpened as in {@link MemberRecord}
     * @param beyond nanoseconds by which a horizon is written further away than a cell asks, for the cells that ask
     *     next
     * @param failed told on the disk's thread: nothing more is promised
     */
    public HorizonWriter(
            MemberFile file,
            RecordFiles records,
            MachineFacts facts,
            DiskThread disk,
            long epoch,
            long largestTtl,
            long horizon,
            long kept,
            boolean listOpened,
            long beyond,
            Leave leave,
            Consumer<IOException> failed)
            throws IOException {
        this.file = file;
        this.records = records;
        this.facts = facts;
        this.disk = disk;
        this.epoch = epoch;
        this.largestTtl = largestTtl;
        this.horizon = horizon;
        this.inherited = horizon;
        this.kept = kept;
        this.listOpened = listOpened;
        this.beyond = beyond;
        this.leave = leave;
        this.failed = failed;
        force();
        records.count();
    }

    /**
     * Forces what a cell asks, then gives it {@link Input.Forced}. From the cell's thread; a cell's tickets rise.
     *
     * @param number of the cell, from 0
     */
    public void promise(CellHost cell, int number, DurableRecord record, long ticket) {
        asked.add(new Asked(cell, number, record, ticket));
        if (due.compareAndSet(false, true)) {
            disk.run(this::write);
        }
    }

    /**
     * Says on disk that this member has opened under its list, and that no lease of a former life is left, where the
     * file does not say that yet; then runs the task there, if the list is a new one. Not if that fails.
     *
     * @param longestTtl of this life's leases, in nanoseconds
     */
    public void opened(long longestTtl, Runnable done) {
        disk.run(() -> {
            boolean newList = !listOpened;
            boolean isOver = facts.nanoTime() - inherited >= 0; // what was promised to members may last longer
            if (!newList && (largestTtl == longestTtl || !isOver)) {
                return;
            }
            try {
                leave.check();
                listOpened = true;
                largestTtl = isOver ? longestTtl : largestTtl;
                force();
            } catch (IOException e) {
                failed.accept(e);
                return;
            }
            if (newList) {
                done.run();
            }
        });
    }

    private void write() {
        due.set(false);
        Map<CellHost, Long> tickets = new LinkedHashMap<>();
        long highest = epoch;
        long furthest = horizon;
        long longestKept = kept;
        Map<Integer, List<DurableRecord>> ofMachines = new TreeMap<>();
        for (Asked each = asked.poll(); each != null; each = asked.poll()) {
            tickets.put(each.cell(), each.ticket());
            if (each.record() instanceof MemberPromise promise) {
                highest = Math.max(highest, promise.epoch());
                furthest = promise.horizon() - furthest > 0 ? promise.horizon() : furthest;
                longestKept = promise.keepsBeyond(longestKept) ? promise.keptUntil() : longestKept;
            } else {
                ofMachines
                        .computeIfAbsent(each.number(), none -> new ArrayList<>())
                        .add(each.record());
            }
        }
        try {
            leave.check();
            records.force(ofMachines);
            boolean further = furthest - horizon > 0;
            if (further || highest > epoch || longestKept != kept) {
                epoch = highest;
                kept = longestKept;
                horizon = further ? furthest + beyond : horizon;
                force();
            }
        } catch (IOException e) {
            failed.accept(new IOException("a promise could not be written: " + e, e));
            return;
        }
        tickets.forEach((cell, ticket) -> cell.post(new Input.Forced(ticket)));
    }

    private void force() throws IOException {
        file.force(record(BootClock.horizon(facts, horizon - facts.nanoTime())));
    }

    private MemberRecord record(long horizonNanos) {
        return new MemberRecord(epoch, largestTtl, horizonNanos, listOpened, Math.max(0, kept - facts.nanoTime()));
    }

    /** What a clean end says, after the disk's thread has ended. */
    public MemberRecord last() {
        return record(BootClock.NONE);
    }
}
