// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.session.EpochAdopted;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionLife;
import io.keyway.lock.peer.wire.FrameCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member in this process, from its start to its end: the one of this machine, or one of a cluster.
 *
 * <p>Its states:
 *
 * <ul>
 *   <li><em>Starting.</em> Its file says how the previous run ended ({@link PreviousRun}). The first record of this
 *   run, with an epoch above all others, is on disk when the constructor returns. Then {@link #run} makes each cell,
 *   which learns what was carried over before it hears anybody.
 *   <li><em>Quarantined.</em> Some cell grants nothing yet: requests queue, holders re-assert. So it is again whenever
 *   somebody tells of an epoch that this member does not know.
 *   <li><em>Open.</em> All cells grant. The file says from now on that no lease of a former run is left.
 *   <li><em>Closing</em> ({@link #close}). No new connections, no new grants; what waits for the disk still goes out.
 *   <li><em>Ended.</em> The file has the table of all grants that live, and the next run carries them over.
 *   <li><em>Stopped</em> ({@link #stop}). The end at once and without a word, when this process may serve no longer: a
 *   cell or the disk has failed, or the directory is no longer ours. The next run waits for the leases of this one.
 * </ul>
 *
 * <p><b>Invariants.</b> In all of them nothing leaves a cell before the record that it depends on is on disk, and no
 * record is written unless {@link #check} has just said that this process may serve. A table of grants is written only
 * when no cell runs any more, and only by a run that knows of every lease that may be believed in. The end happens
 * once.
 *
 * <p>Cells run on their event loops; the disk and the locks of the operating system are asked on one thread beside
 * them.
 */
public abstract class Member implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Member.class);
    private static final long LOOK_AFTER_MILLIS = 500;

    private final Cells factory;
    private final MemberFile file;
    private final Duration maxTtl;
    private final String threadName;
    private final int shards;
    private final PreviousRun previous;
    private final long startedAt;
    private final long epoch;
    private final DiskThread disk;
    private final RecordFiles records;
    private final HorizonWriter horizons;
    private final List<LoopThread> threads = new ArrayList<>();
    private final List<MemberCell> cells = new CopyOnWriteArrayList<>();
    private final MemberTrace trace = new MemberTrace(this::id, this::cells);
    private final Set<MemberCell> quarantined = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean saidOpen = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final AtomicBoolean over = new AtomicBoolean();

    /**
     * Forces the first record of this run.
     *
     * @param factory of the cells that {@link #run} will be given
     * @param file ours from now on, also if this throws: closed at the end
     * @param threadName with which the names of all threads begin
     * @param shards how many cells {@link #run} will be given
     * @param heardEpoch the highest epoch that this run is to exceed, beside those of the file
     * @param listOpened as in {@link MemberRecord}
     * @param beyond nanoseconds by which a horizon is written further away than a cell asks, for the cells that ask
     *     next
     * @throws IOException if the record is not on disk; nothing was promised
     */
    protected Member(
            Cells factory,
            MemberFile file,
            MachineFacts facts,
            Duration maxTtl,
            String threadName,
            int shards,
            long heardEpoch,
            boolean listOpened,
            long beyond)
            throws IOException {
        this.factory = factory;
        this.file = file;
        this.maxTtl = maxTtl;
        this.threadName = threadName;
        this.shards = shards;
        this.records = RecordFiles.open(factory.algorithm(), shards, file, facts);
        this.previous = file.previousRun(records.lost(), factory.algorithm().leases(), System.nanoTime());
        this.startedAt = System.nanoTime();
        this.epoch = file.nextEpoch(heardEpoch);
        this.disk = new DiskThread(threadName + "-disk", this::mustStop);
        this.horizons = new HorizonWriter(
                file,
                records,
                facts,
                disk,
                epoch,
                longestTtl(file, maxTtl),
                startedAt + previous.awaitedNanos(),
                startedAt + previous.longestKept(),
                listOpened,
                beyond,
                this::check,
                this::mustStop);
    }

    /** The longest lease, in nanoseconds, that this run or a former one may have given. */
    public static long longestTtl(MemberFile file, Duration maxTtl) {
        return Math.max(maxTtl.toNanos(), file.longestTtl());
    }

    // What differs from one kind of member to another

    /** What clients and other members call it. */
    protected abstract String id();

    /**
     * Returns if this process may still serve. On the disk's thread, before each record.
     *
     * @throws IOException if it may not, with the reason
     */
    protected abstract void check() throws IOException;

    /** Twice a second, on the disk's thread: false if the member must stop, after saying why. */
    protected abstract boolean lookAfter();

    /** Tells the log that the member stops since the disk, or the operating system, has failed. */
    protected abstract void cannotServe(Exception e);

    /** Tells the log that the member stops since one of its cells has failed. */
    protected abstract void cellFailed(Throwable why);

    /** All cells grant from now on. */
    protected void opened() {}

    /** The disk says that this member has opened under its list, which is a new one. On the disk's thread. */
    protected void openedUnderNewList() {}

    /** That cell has a notice. On its thread. */
    protected void heard(MemberCell from, Notice notice) {}

    /** Whether {@link #turned} is to be told; asked once for each cell. */
    protected boolean watchesTurns() {
        return false;
    }

    /** A cell has run a batch of turns. On its thread. */
    protected void turned(MemberSessions sessions) {}

    /** The link of that session has gone, for whatever reason. On the thread of its cell. */
    protected void linkGone(SessionLife life) {}

    /** Takes no more connections; those that stand are not touched. Idempotent. */
    protected abstract void closeEndpoint();

    /** Ends what is not this class's own, when all cells have ended and the file is closed. */
    protected abstract void release();

    /** The member stops by itself; its end follows. */
    protected void stopping() {}

    /** The member has stopped by itself. */
    protected void stopped() {}

    /**
     * The end is over.
     *
     * @param inOrder whether the next run carries the grants over
     * @param grants how many of them
     */
    protected void ended(boolean inOrder, int grants) {}

    /** Half a sentence for the log: who waits, and for what, after an end without a table of grants. */
    protected abstract String consequence();

    // The start

    /** The epoch of this run. */
    protected long epoch() {
        return epoch;
    }

    /** For the log, after "with epoch 5". */
    protected String previousRun() {
        return previous.sentence();
    }

    /** What was carried over from the previous run, and the bytes by which it may be settled. */
    protected CarriedOverGrants carriedOver() {
        return previous.carriedOver();
    }

    /** How long a proof that nobody believes has to wait, for places that are kept, in nanoseconds from the start. */
    protected long keptNanos() {
        return previous.keptNanos();
    }

    /** Until when leases of former runs may be believed in, on the monotonic clock. */
    protected long quarantineEnd() {
        return startedAt + previous.waitNanos();
    }

    /** Whether there is anything to wait for. */
    protected boolean startsQuarantined() {
        return previous.waitNanos() > 0;
    }

    /** What the cells have promised before they promise anything. */
    protected Horizon horizon() {
        return new Horizon(startedAt + previous.awaitedNanos(), maxTtl.toNanos() / 2);
    }

    /** A thread for cells, or for what brings them connections; it ends with the member. */
    protected LoopThread thread(String name) {
        LoopThread thread = new LoopThread(threadName + "-" + name);
        threads.add(thread);
        return thread;
    }

    /**
     * Runs one more cell; returns when it knows what was carried over. Not on its thread.
     *
     * @param codec of that thread alone
     * @param here on what this cell decides, by {@link Cells#route}
     * @throws IOException if the records of machines cannot be read
     */
    protected MemberCell run(LoopThread thread, Cell cell, FrameCodec codec, Predicate<String> here)
            throws IOException {
        MemberCell made = new MemberCell(this, factory.algorithm().id(), thread, cell, codec);
        cells.add(made);
        quarantined.add(made);
        List<Input> first = new ArrayList<>();
        carriedOver().imports().stream()
                .filter(each -> each instanceof Input.Command command && isHere(command.key(), here))
                .forEach(first::add);
        boolean all = factory.algorithm().electsInEachCell();
        for (RecordFiles.Found found : records.of(made.number())) {
            if (all || isHere(found.key(), here)) {
                first.add(new Input.Command(found.key(), new Restored(found.record())));
            }
        }
        for (Key key : factory.algorithm().startingMachines()) {
            if (all || isHere(key, here)) {
                first.add(new Input.Command(key, new Started()));
            }
        }
        made.begin(first);
        return made;
    }

    private boolean isHere(Key key, Predicate<String> here) {
        return here.test(factory.route(key));
    }

    /** A cell whose machines talk to the other members opens a link to one of them. On the cell's thread. */
    protected void dial(MemberCell from, String member, long link) {
        throw new IllegalStateException("this member has no others to dial, but " + member);
    }

    /** Connections are taken from now on. */
    protected void started() {
        if (over.get()) {
            closeEndpoint(); // it was not there yet when the end looked for it
        }
        disk.runAfter(LOOK_AFTER_MILLIS, this::lookAgain);
    }

    /** Ends what was started of a member that cannot be; nothing was promised. */
    protected void abandon() {
        disk.kill();
        closeFile();
        threads.forEach(LoopThread::close);
    }

    private void lookAgain() {
        if (lookAfter()) {
            disk.runAfter(LOOK_AFTER_MILLIS, this::lookAgain);
        } else {
            stop();
        }
    }

    // The run

    protected DiskThread disk() {
        return disk;
    }

    /** All cells, in the order of their shards. */
    protected List<MemberCell> cells() {
        return cells;
    }

    /** Whether some names are not granted yet, or no longer. */
    public boolean quarantined() {
        return !quarantined.isEmpty();
    }

    /** Whether the end has begun, by whichever way. */
    protected boolean ending() {
        return closing.get() || over.get();
    }

    /**
     * Writes down its events from now on, the last of them, for {@code keyway trace}: frames, grants, and what else its
     * cells are given. No secrets, and nothing of a lock but its name, its tokens and who asks for it.
     */
    public void startTrace() {
        trace.start();
    }

    /**
     * As {@link #startTrace}, and also into a file of its own in that directory.
     *
     * @throws IOException if there can be none
     */
    public void startTrace(Path directory) throws IOException {
        trace.startTo(directory);
    }

    MemberTrace trace() {
        return trace;
    }

    /** A cell promises. On its thread. */
    void promise(MemberCell from, DurableRecord record, long ticket) {
        horizons.promise(from.loop(), from.number(), record, ticket);
    }

    /** A cell tells something. On its thread. */
    void told(MemberCell from, Notice notice) {
        heard(from, notice);
        if (notice instanceof EpochAdopted adopted) {
            for (MemberCell cell : cells) {
                if (cell != from) {
                    cell.loop().post(new Input.EpochTaken(adopted.epoch()));
                }
            }
        }
    }

    /** A cell grants from now on, or no longer. On its thread. */
    void quarantined(MemberCell cell, boolean now) {
        if (now) {
            quarantined.add(cell);
            saidOpen.set(false);
        } else if (quarantined.remove(cell)
                && quarantined.isEmpty()
                && cells.size() == shards
                && saidOpen.compareAndSet(false, true)) {
            opened();
            disk.run(file::forgotten);
            horizons.opened(maxTtl.toNanos(), this::openedUnderNewList);
        }
    }

    /** A cell has failed, and runs no more. On its thread. */
    void failed(Throwable why) {
        cellFailed(why);
        stop();
    }

    private void mustStop(Exception e) {
        cannotServe(e);
        stop();
    }

    // The end

    /** Stops at once, without a word. From any thread. */
    private void stop() {
        if (over.compareAndSet(false, true)) {
            DiskThread.aside(threadName + "-end", () -> {
                stopping();
                end(false);
                stopped();
            });
        }
    }

    /** Ends in order: grants no more, says on disk what lives, gives up the port and the directory. Idempotent. */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true) || over.get()) {
            return;
        }
        boolean knowsAll = true;
        try {
            closeEndpoint();
            for (MemberCell cell : cells) {
                knowsAll &= cell.closing();
            }
            // What waits for a promise goes out, so that those who were granted something know it.
            cells.forEach(MemberCell::settle);
            disk.drain();
        } catch (RejectedExecutionException e) {
            LOG.debug("this member has ended by itself meanwhile", e);
        }
        if (over.compareAndSet(false, true)) {
            end(knowsAll);
        }
    }

    /** @param knowsAll whether this run knows of every lease that may be believed in */
    private void end(boolean knowsAll) {
        closeEndpoint();
        List<MemberCell.Remains> remains = new ArrayList<>();
        boolean complete = knowsAll;
        for (MemberCell cell : cells) {
            Optional<MemberCell.Remains> left = cell.shut();
            left.ifPresent(remains::add);
            complete &= left.isPresent();
        }
        if (!disk.end()) {
            LOG.warn("the disk does not answer; {}", consequence());
            complete = false;
        }
        List<byte[]> table = new ArrayList<>();
        if (complete) {
            remains.forEach(each -> table.addAll(carriedOver().table(each.grants(), each.lives())));
            complete = file.forceClean(horizons.last(), table);
            if (!complete) {
                LOG.warn("the grants that live could not be written; {}", consequence());
            }
        }
        trace.close();
        closeFile();
        release();
        threads.forEach(LoopThread::close);
        ended(complete, table.size());
    }

    private void closeFile() {
        try {
            file.close();
            records.close();
        } catch (IOException e) {
            LOG.debug("closing the member file failed", e);
        }
    }
}
