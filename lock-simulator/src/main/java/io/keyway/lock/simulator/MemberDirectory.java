// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.Epoch;
import io.keyway.lock.peer.member.MemberRecord;
import io.keyway.lock.peer.member.MemberSettings;
import io.keyway.lock.peer.member.PreviousRun;
import io.keyway.lock.peer.member.StartState;
import io.keyway.lock.peer.member.StoredRecord;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.SessionLife;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one member: what it has forced to its member file and to its records, the copies that somebody made
 * of all that, and what a start makes of it, which the product says.
 */
final class MemberDirectory {
    /** What a campaign must have done to directories. */
    enum StartGoal implements CoverageGoal {
        /** A member ended in order, and its file says which grants live. */
        ENDED_IN_ORDER,
        /** A member served another algorithm before it started again. */
        SERVED_ANOTHER_ALGORITHM,
        /** A member started again, and nothing lasted any more that it had promised. */
        STARTED_WITH_NOTHING_TO_WAIT_FOR
    }

    private static final String BOOT = "boot";
    private static final long START_OF_2020_MILLIS = 1_577_836_800_000L;
    /** Older ones were thrown away. */
    private static final int MOST_COPIES = 40;

    /** What is in it at one time. */
    private record Content(@Nullable StoredRecord file, Map<Key, byte[]> records) {
        Content with(StoredRecord other) {
            return new Content(other, records);
        }
    }

    private static final Content NOTHING = new Content(null, Map.of());

    private final SimNode node;
    private MemberSettings settings;
    private final LeaseModel.Kit kit;
    private final MachineFacts facts;
    private final List<Content> copies = new ArrayList<>();
    private Content content = NOTHING;
    /** It was put back from a copy. */
    private boolean restored;
    /** Its member served another algorithm since. */
    private boolean moved;

    // Of the present life.
    private boolean isFirstUse;
    private @Nullable PreviousRun previous;
    private long epoch;
    private long largestTtl;
    private long horizon;
    /** The horizon of former lives. */
    private long inherited;

    private long kept;
    private boolean listOpened;

    MemberDirectory(SimWorld world, SimNode node, MemberSettings settings, LeaseModel.Kit kit) {
        this.kit = kit;
        this.node = node;
        this.settings = settings;
        this.facts = new Facts(world);
    }

    // What becomes of it between two lives

    /** The directory is gone. */
    void lose() {
        content = NOTHING;
        restored = false;
        moved = false;
    }

    /** It is as it was at some time. */
    void restore(long which) {
        if (!copies.isEmpty()) {
            content = copies.get((int) Long.remainderUnsigned(which, copies.size()));
            restored = true;
        }
    }

    /** Its member has served another algorithm meanwhile. */
    void moved() {
        moved = content.file() != null;
    }

    /** As that of a member which ended in order before this world began, and had granted nothing. */
    void endedBefore() {
        epoch = 1;
        content = new Content(stored(StoredRecord.State.CLEAN, record(BootClock.NONE, true), List.of()), Map.of());
    }

    /** The next life of its member has other settings. */
    void settings(MemberSettings other) {
        settings = other;
    }

    // A start

    /** What a start finds. */
    StartState found(boolean saidFresh) {
        StoredRecord file = content.file();
        if (saidFresh) {
            return new StartState.FirstUse();
        } else if (file == null) {
            return new StartState.Missing();
        } else if (moved) {
            return new StartState.Foreign("it was written by a member of another algorithm", Optional.of(file));
        } else if (file.settings().settingsHash() != settings.settingsHash()) {
            return new StartState.Foreign("it was written under other settings", Optional.of(file));
        }
        return new StartState.Restarted(
                file,
                restored ? Optional.of("the member file is a copy of the one that was written") : Optional.empty());
    }

    /**
     * Whether the list has to be confirmed by all others before a life that finds that opens.
     *
     * @param isElastic whether members know themselves which list counts
     */
    boolean asks(StartState start, boolean isElastic) {
        StoredRecord file = content.file();
        boolean hasWaited = file != null && !file.record().listOpened();
        boolean isUnknown = !isElastic && (file == null || restored);
        return start instanceof StartState.FirstUse || moved || hasWaited || isUnknown;
    }

    /** A life begins: what the former one left. */
    PreviousRun begin(StartState start, boolean asks, int leases) {
        long now = node.clock();
        PreviousRun left = PreviousRun.of(start, Optional.empty(), settings, leases, facts, now);
        previous = left;
        isFirstUse = start instanceof StartState.FirstUse;
        epoch = Epoch.next(start.storedEpoch(), 0, facts.wallMillis());
        StoredRecord file = content.file();
        largestTtl = Math.max(
                settings.maxTtl().toNanos(), file == null ? 0 : file.record().largestTtlNanos());
        horizon = now + (kit.takes(Shortcut.SHORTENS_HORIZONS) ? left.waitNanos() : left.awaitedNanos());
        inherited = horizon;
        kept = now + left.longestKept();
        listOpened = !asks;
        boolean isCopy = restored && !kit.takes(Shortcut.BELIEVES_COPIES);
        if (moved || isCopy || file == null || isFirstUse) { // one directory: all of it counts, or nothing
            content = new Content(file, Map.of());
        }
        restored = false;
        moved = false;
        write();
        copies.add(content);
        return left;
    }

    /** Whether the present life began as the first use of the cluster. */
    boolean isFirstUse() {
        return isFirstUse;
    }

    /** The epoch of the present life. */
    long epoch() {
        return epoch;
    }

    /** When nothing lasts any more that this life or a former one has promised, as far as is forced. */
    long horizon() {
        return horizon;
    }

    long largestTtl() {
        return largestTtl;
    }

    /** The records of the machines, in the order in which each was first forced. */
    Collection<byte[]> records() {
        return content.records().values();
    }

    // What the present life forces

    void promised(MemberPromise promise) {
        boolean further = promise.horizon() - horizon > 0;
        boolean keeps = promise.keepsBeyond(kept);
        if (further || keeps || promise.epoch() > epoch) {
            epoch = Math.max(epoch, promise.epoch());
            kept = keeps ? promise.keptUntil() : kept;
            horizon = further ? promise.horizon() + settings.maxTtl().toNanos() / 16 : horizon;
            write();
        }
    }

    void recorded(Key key, byte[] record) {
        Map<Key, byte[]> records = new LinkedHashMap<>(content.records());
        records.put(key, record);
        content = new Content(content.file(), records);
        copies.add(content);
        if (copies.size() > MOST_COPIES) {
            copies.remove(0);
        }
    }

    /** No lease of a former life is left. */
    void opened() {
        boolean isOver = node.clock() - inherited >= 0;
        if (!listOpened || isOver) {
            listOpened = true;
            largestTtl = isOver ? settings.maxTtl().toNanos() : largestTtl;
            write();
        }
    }

    /** The present life ends in order, and these grants of these sessions are all that live. */
    void ended(List<GrantTable.Entry> grants, List<SessionLife> lives) {
        if (previous == null) {
            throw new IllegalStateException(node + " has not begun");
        }
        List<byte[]> table = previous.carriedOver().table(grants, lives);
        content = content.with(stored(StoredRecord.State.CLEAN, record(BootClock.NONE, listOpened), table));
        copies.add(content);
    }

    private void write() {
        long until = BootClock.horizon(facts, horizon - node.clock());
        content = content.with(stored(StoredRecord.State.OPEN, record(until, listOpened), List.of()));
    }

    private MemberRecord record(long until, boolean opened) {
        return new MemberRecord(
                epoch, largestTtl, until, opened, kept == Turn.NEVER ? 0 : Math.max(0, kept - node.clock()));
    }

    private StoredRecord stored(StoredRecord.State state, MemberRecord record, List<byte[]> grants) {
        long now = node.clock();
        return new StoredRecord(1, state, record, settings, BOOT, BOOT, 1, now, now, facts.wallMillis(), grants);
    }

    /** A machine that does not sleep and whose wall clock nobody sets. */
    private final class Facts implements MachineFacts {
        private final SimWorld world;

        Facts(SimWorld world) {
            this.world = world;
        }

        @Override
        public Optional<String> bootId() {
            return Optional.of(BOOT);
        }

        @Override
        public Optional<String> timeNamespace() {
            return Optional.of(BOOT);
        }

        @Override
        public OptionalLong bootNanos() {
            return OptionalLong.of(node.clock());
        }

        @Override
        public long nanoTime() {
            return node.clock();
        }

        @Override
        public long wallMillis() {
            return START_OF_2020_MILLIS + 1_000 + world.now() / Nanos.MILLI;
        }

        @Override
        public Optional<FileFacts> file(Path path) {
            return Optional.empty();
        }

        @Override
        public String fileSystemType(Path path) {
            return "";
        }

        @Override
        public void forceName(Path path) {}
    }
}
