// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.member.MemberSlot.Broken;
import io.keyway.lock.peer.member.MemberSlot.Content;
import io.keyway.lock.peer.member.MemberSlot.OtherFormat;
import io.keyway.lock.peer.member.MemberSlot.Whole;
import io.keyway.lock.peer.member.StoredRecord.State;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.MachineFacts.FileFacts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongPredicate;
import java.util.stream.Stream;

/** Judges a member file at a start: what it says, and whether what it says still holds. */
public final class MemberFileReader {
    private static final long CHANGE_SLACK_MILLIS = 1000;
    private static final long CLOCK_SLACK_NANOS = 1_000_000_000L;

    private final Path path;
    private final RandomAccessFile file;
    private final MachineFacts facts;
    private final MemberSettings settings;
    private final LongPredicate regrouped;

    /** @param regrouped as of {@link MemberFile#open} */
    MemberFileReader(
            Path path, RandomAccessFile file, MachineFacts facts, MemberSettings settings, LongPredicate regrouped) {
        this.regrouped = regrouped;
        this.path = path;
        this.file = file;
        this.facts = facts;
        this.settings = settings;
    }

    /**
     * What was found.
     *
     * @param sequence the highest sequence number in the file
     * @param list the member list of the last life; empty if there was none, or none that can be read
     * @param moved as of {@link MemberFile#moved}, as this file tells of the last life
     * @param isRegrouped as of {@link MemberFile#isRegrouped}
     * @param waited whether that life had not opened under its list, and so did not know whom others serve
     * @param lost as of {@link MemberFile#lost}
     * @param provable whoever may believe in a grant of an earlier life has a byte of the present clients.lock
     */
    record Found(
            StartState start,
            long sequence,
            Optional<StoredList> list,
            boolean moved,
            boolean isRegrouped,
            boolean waited,
            Optional<String> lost,
            boolean provable) {
        static final Found NOTHING = new Found(
                new StartState.Missing(),
                0,
                Optional.empty(),
                false,
                false,
                false,
                Optional.of("the member file is missing"),
                false);
    }

    Found read() throws IOException {
        Optional<FileFacts> now = facts.file(path); // before anything else touches the file
        Content a = MemberSlot.decode(slot(file, 0));
        Content b = MemberSlot.decode(slot(file, 1));
        Optional<Whole> newest = newest(a, b);
        long sequence = newest.map(w -> w.stored().sequence()).orElse(0L);
        StartState start = judge(a, b, newest, now);
        boolean unknown = Stream.of(a, b).anyMatch(each -> each instanceof OtherFormat);
        Optional<StoredRecord> own = start instanceof StartState.Damaged || unknown
                ? Optional.empty()
                : newest.map(Whole::stored).filter(this::ofThisMember);
        Optional<StoredList> list = own.map(stored -> list(stored, now));
        boolean moved = own.filter(this::isMoved).isPresent();
        boolean isRegrouped = own.filter(this::isRegrouped).isPresent();
        boolean waited = own.filter(stored -> !stored.record().listOpened()).isPresent();
        Optional<String> lost = lost(start, own, moved, now);
        return new Found(start, sequence, list, moved, isRegrouped, waited, lost, provable(a, b, newest, now));
    }

    /**
     * Only the original record of the last life says by which file its clients proved that they live. A file that is
     * there in its place has bytes that they never had, and finds all of them dead.
     */
    private boolean provable(Content a, Content b, Optional<Whole> newest, Optional<FileFacts> now) {
        boolean all = Stream.of(a, b).noneMatch(each -> each instanceof Broken || each instanceof OtherFormat);
        if (!all || newest.isEmpty()) {
            return false;
        }
        StoredRecord stored = newest.get().stored();
        return altered(stored, now).isEmpty()
                && (stored.state() == State.FRESH
                        || stored.settings().lockFile().equals(settings.lockFile()));
    }

    private boolean isMoved(StoredRecord stored) {
        return stored.settings().algorithm() != settings.algorithm() || isRegrouped(stored);
    }

    private boolean isRegrouped(StoredRecord stored) {
        return stored.settings().algorithm() == settings.algorithm()
                && regrouped.test(stored.settings().listHash());
    }

    /** The newest record in that file, if the life that wrote it may have left places that are kept. */
    public static Optional<StoredRecord> keeper(Path path, MachineFacts facts) {
        if (!Files.exists(path)) {
            return Optional.empty();
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
            return newest(MemberSlot.decode(slot(file, 0)), MemberSlot.decode(slot(file, 1)))
                    .map(Whole::stored)
                    .filter(stored -> !Quarantine.kept(stored, facts).isZero());
        } catch (IOException e) {
            return Optional.empty(); // whoever hosts will say so
        }
    }

    private boolean ofThisMember(StoredRecord stored) {
        return stored.settings().cluster().equals(settings.cluster())
                && stored.settings().node().equals(settings.node())
                && stored.state() != State.FRESH
                && !stored.settings().members().isEmpty();
    }

    /**
     * A copy says what was true when it was made; its original may have seen other lists since. And a list under which
     * another algorithm has opened, or other groups of cells have, is none under which this one has: other members may
     * serve the former ones still.
     */
    private StoredList list(StoredRecord stored, Optional<FileFacts> now) {
        boolean opened = stored.record().listOpened() && altered(stored, now).isEmpty() && !isMoved(stored);
        return new StoredList(stored.settings().members(), opened);
    }

    /** Reads a slot; what lies beyond the end of the file reads as a broken slot. */
    public static byte[] slot(RandomAccessFile file, long sequence) throws IOException {
        long at = sequence % 2 * MemberSlot.SIZE;
        byte[] bytes = new byte[file.length() < at + MemberSlot.SIZE ? 0 : MemberSlot.SIZE];
        file.seek(at);
        file.readFully(bytes);
        return bytes;
    }

    private static Optional<Whole> newest(Content a, Content b) {
        if (a instanceof Whole first && b instanceof Whole second) {
            return Optional.of(first.stored().sequence() > second.stored().sequence() ? first : second);
        }
        return a instanceof Whole first
                ? Optional.of(first)
                : b instanceof Whole second ? Optional.of(second) : Optional.empty();
    }

    private StartState judge(Content a, Content b, Optional<Whole> newest, Optional<FileFacts> now) throws IOException {
        long epoch = newest.map(w -> w.stored().record().epoch()).orElse(0L);
        for (Content content : List.of(a, b)) {
            if (content instanceof OtherFormat other) {
                return new StartState.Foreign(
                        "its format is " + other.format() + ", which this version does not know",
                        newest.map(Whole::stored));
            }
        }
        if (a instanceof Broken || b instanceof Broken) {
            // The newer of two slots may be the broken one, and a promise in it.
            return new StartState.Damaged(
                    newest.isPresent() ? "one of its halves cannot be read" : "it cannot be read", epoch);
        }
        if (newest.isEmpty()) {
            return new StartState.Damaged("it is empty", 0);
        }
        StoredRecord stored = newest.get().stored();
        Optional<String> foreign = foreign(stored);
        if (foreign.isPresent()) {
            return new StartState.Foreign(foreign.get(), Optional.of(stored));
        }
        Optional<String> whyNot = whyNot(stored, now);
        if (stored.state() == State.FRESH && whyNot.isEmpty()) {
            return new StartState.FirstUse();
        }
        if (stored.state() == State.CLEAN && whyNot.isEmpty()) {
            Optional<List<byte[]>> grants = table(newest.get().table());
            return grants.isEmpty()
                    ? new StartState.Damaged("its table of grants cannot be read", epoch)
                    : new StartState.Restarted(withGrants(stored, grants.get()), whyNot);
        }
        if (stored.state() == State.CLEAN && altered(stored, now).isEmpty()) {
            // What is kept beyond leases is kept by name whatever the clocks say of the time since.
            return new StartState.Restarted(
                    withGrants(stored, table(newest.get().table()).orElse(List.of())), whyNot);
        }
        return new StartState.Restarted(stored, whyNot);
    }

    private Optional<String> foreign(StoredRecord stored) {
        MemberSettings was = stored.settings();
        if (!was.cluster().equals(settings.cluster())) {
            return Optional.of("its cluster is '" + was.cluster() + "', not '" + settings.cluster() + "'");
        }
        if (!was.node().equals(settings.node())) {
            return Optional.of("its node is '" + was.node() + "', not '" + settings.node() + "'");
        }
        if (stored.state() == State.FRESH) {
            return Optional.empty(); // nothing was granted, under whatever settings
        }
        if (isRegrouped(stored)) {
            return Optional.of("it was written with another number of shards");
        }
        if (was.listHash() != settings.listHash()) {
            return Optional.of("it was written under another member list");
        }
        if (was.algorithm() != settings.algorithm()) {
            return Optional.of("it was written by a member of another algorithm");
        }
        if (was.settingsHash() != settings.settingsHash()) {
            return Optional.of("it was written under other settings of the cluster");
        }
        return Optional.empty();
    }

    /** The conditions under which the horizon on the boot clock and the grants of a clean end may be believed. */
    private Optional<String> whyNot(StoredRecord stored, Optional<FileFacts> file) {
        if (stored.bootId().isEmpty() || facts.bootId().isEmpty()) {
            return Optional.of("this system does not say when it was started");
        }
        if (!stored.bootId().equals(facts.bootId().get())) {
            return Optional.of("the machine was started anew since the last life of this member");
        }
        if (stored.timeNamespace().isEmpty() || !facts.timeNamespace().equals(Optional.of(stored.timeNamespace()))) {
            return Optional.of("the last life of this member was in another time namespace (container)");
        }
        Optional<String> altered = altered(stored, file);
        if (altered.isPresent()) {
            return altered;
        }
        String lockFile = stored.settings().lockFile();
        // Without the name of a file the last life trusted no proofs; its horizon covers the lives before it.
        if (stored.state() != State.FRESH && !lockFile.isEmpty() && !lockFile.equals(settings.lockFile())) {
            return Optional.of("clients.lock was removed or replaced since the last life of this member");
        }
        return clocks(stored);
    }

    private static Optional<String> altered(StoredRecord stored, Optional<FileFacts> file) {
        return altered("the member file", stored.inode(), stored.wallMillis(), file);
    }

    /** Whether a file is not the one that was written last in that inode and at that time: why; empty if it is. */
    static Optional<String> altered(String what, long inode, long wallMillis, Optional<FileFacts> now) {
        if (now.isEmpty() || now.get().inode() != inode) {
            return Optional.of(what + " is a copy of the one that was written");
        }
        return Math.abs(now.get().changedMillis() - wallMillis) > CHANGE_SLACK_MILLIS
                ? Optional.of(what + " was changed by something else since it was written, or restored")
                : Optional.empty();
    }

    /** As of {@link MemberFile#lost}. */
    private Optional<String> lost(
            StartState start, Optional<StoredRecord> own, boolean moved, Optional<FileFacts> now) {
        if (start instanceof StartState.FirstUse) {
            return Optional.of("this cluster never ran");
        } else if (own.isEmpty()) {
            return Optional.of("no member file names this member");
        } else if (moved) {
            return Optional.of("this member served another algorithm, or another number of shards");
        }
        return altered(own.get(), now);
    }

    private Optional<String> clocks(StoredRecord stored) {
        long monotonic = facts.nanoTime();
        OptionalLong boot = facts.bootNanos();
        if (boot.isEmpty() || stored.bootNanos() == BootClock.NONE) {
            return Optional.of("this system has no boot clock");
        }
        if (monotonic > boot.getAsLong() + CLOCK_SLACK_NANOS) {
            return Optional.of(
                    "the boot clock is behind the monotonic one, as in a container with an uptime of its own");
        }
        if (boot.getAsLong() < stored.bootNanos()
                || boot.getAsLong() - monotonic < Quarantine.asleep(stored) - CLOCK_SLACK_NANOS) {
            return Optional.of("the clocks of this machine contradict those of the last life of this member");
        }
        return Optional.empty();
    }

    private Optional<List<byte[]>> table(MemberSlot.Table table) throws IOException {
        if (table.bytes() < 0
                || table.bytes() > MemberFile.TABLE_LIMIT
                || file.length() < MemberFile.TABLE_AT + table.bytes()) {
            return Optional.empty();
        }
        byte[] bytes = new byte[table.bytes()];
        file.seek(MemberFile.TABLE_AT);
        file.readFully(bytes);
        if (MemberSlot.crc(bytes, bytes.length) != table.crc()) {
            return Optional.empty();
        }
        try {
            return Optional.of(MemberSlot.grants(bytes, table.count()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static StoredRecord withGrants(StoredRecord s, List<byte[]> grants) {
        return new StoredRecord(
                s.sequence(),
                s.state(),
                s.record(),
                s.settings(),
                s.bootId(),
                s.timeNamespace(),
                s.inode(),
                s.bootNanos(),
                s.nanoTime(),
                s.wallMillis(),
                grants);
    }
}
