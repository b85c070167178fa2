// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.member.StartState.Damaged;
import io.keyway.lock.peer.member.StartState.FirstUse;
import io.keyway.lock.peer.member.StartState.Foreign;
import io.keyway.lock.peer.member.StartState.Missing;
import io.keyway.lock.peer.member.StartState.Restarted;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.spi.Owner;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemberFileTest {
    private static final Duration FULL = Quarantine.full(Duration.ofSeconds(60));
    private static final long TTL = Duration.ofSeconds(10).toNanos();
    private static final Duration KEPT = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    Path path;
    FakeFacts facts = new FakeFacts();
    MemberSettings settings = new MemberSettings("cluster", "node", 1, 2, Duration.ofSeconds(60), 1, "(dev=1,ino=2)");

    @BeforeEach
    void name() {
        path = directory.resolve("member");
    }

    private MemberFile open() throws IOException {
        return MemberFile.open(path, facts, settings);
    }

    private StartState start() throws IOException {
        try (MemberFile file = open()) {
            return file.start();
        }
    }

    private Quarantine quarantine() throws IOException {
        try (MemberFile file = open()) {
            return file.quarantine();
        }
    }

    private MemberRecord record(long epoch) {
        return new MemberRecord(epoch, TTL, BootClock.horizon(facts, TTL));
    }

    /** A life that grants for 10 s and ends without a word. */
    private void live() throws IOException {
        try (MemberFile file = open()) {
            file.forgotten();
            file.force(record(file.nextEpoch(0)));
        }
        facts.file(path); // the change is as old as the write
    }

    private boolean provable() throws IOException {
        try (MemberFile file = open()) {
            return file.provable();
        }
    }

    /**
     * Two changes of a file within one millisecond, or tick of the file system's clock, look alike; no copy comes back
     * so soon.
     */
    private void awaitFileClock() throws IOException {
        Path probe = path.resolveSibling("probe");
        long last = Files.getLastModifiedTime(path).toMillis();
        do {
            Files.write(probe, new byte[1]);
        } while (Files.getLastModifiedTime(probe).toMillis() <= last);
        Files.delete(probe);
    }

    private void liveAndEndInOrder(List<byte[]> grants) throws IOException {
        try (MemberFile file = open()) {
            MemberRecord record = record(file.nextEpoch(0));
            file.force(record);
            assertThat(file.forceClean(record, grants)).isTrue();
        }
        facts.file(path);
    }

    private void assertFullWait(String reason) throws IOException {
        assertThat(quarantine().reason()).contains(reason);
        assertThat(quarantine().duration()).isEqualTo(FULL);
    }

    @Test
    void fullWaitIsTheLongestTtlByTheSlowestAndTheFastestClock() {
        assertThat(Quarantine.full(Duration.ofSeconds(99))).isEqualTo(Duration.ofSeconds(101));
        assertThat(Quarantine.full(Duration.ofNanos(1))).isEqualTo(Duration.ofNanos(2));
        assertThat(Quarantine.full(Duration.ofHours(24))).isGreaterThan(Duration.ofHours(24));
    }

    @Test
    void aMissingFileWaitsInFull() throws IOException {
        try (MemberFile file = open()) {
            assertThat(file.start()).isInstanceOf(Missing.class);
        }
        Files.delete(path);
        assertFullWait("is missing");
    }

    @Test
    void theNameOfAFileThatWasMadeIsOnDisk() throws IOException {
        open().close();
        assertThat(facts.staysNamed(path)).isTrue();
        Files.delete(path);
        MemberFile.createFresh(path, facts, settings);
        assertThat(facts.staysNamed(path)).isTrue();
    }

    @Test
    void anInterruptedThreadForcesANameTooAndStaysInterrupted() throws IOException {
        Path made = Files.createFile(path.resolveSibling("made"));
        Thread.currentThread().interrupt();
        try {
            new SystemFacts().forceName(made);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aFileThatWasMadeButNeverForcedWaitsInFull() throws IOException {
        open().close();
        assertThat(start()).isInstanceOf(Damaged.class);
        assertFullWait("it is empty");
    }

    @Test
    void firstUseServesAtOnce() throws IOException {
        MemberFile.createFresh(path, facts, settings);
        assertThat(start()).isInstanceOf(FirstUse.class);
        assertThat(quarantine().duration()).isZero();
        assertThat(quarantine().reason()).contains("first use");
    }

    @Test
    void freshIsRefusedWhereAFileIs() throws IOException {
        live();
        assertThatThrownBy(() -> MemberFile.createFresh(path, facts, settings))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(start()).isInstanceOf(Restarted.class);
    }

    @Test
    void aFreshFileThatComesBackIsNoFirstUse() throws Exception {
        MemberFile.createFresh(path, facts, settings);
        byte[] fresh = Files.readAllBytes(path);
        facts.wall += 5000;
        live();
        awaitFileClock();
        Files.write(path, fresh);
        assertThat(start()).isInstanceOf(Restarted.class);
        assertThat(quarantine().duration()).isEqualTo(FULL);
    }

    @Test
    void aRestartWaitsUntilTheHorizonOnTheBootClock() throws IOException {
        live();
        facts.pass(Duration.ofSeconds(4));
        assertThat(start())
                .isInstanceOfSatisfying(
                        Restarted.class, r -> assertThat(r.horizonUsable()).isTrue());
        assertThat(quarantine().duration())
                .isBetween(Duration.ofSeconds(6), Duration.ofSeconds(6).plusMillis(30));
        facts.pass(Duration.ofSeconds(7));
        assertThat(quarantine().duration()).isZero();
        assertThat(quarantine().reason()).contains("has ended on the boot clock");
    }

    @ParameterizedTest
    @ValueSource(longs = {-86_400_000L, 86_400_000L})
    void aStepOfTheWallClockShortensNoWait(long step) throws IOException {
        live();
        facts.pass(Duration.ofSeconds(1));
        facts.wall += step;
        assertThat(quarantine().duration())
                .isBetween(Duration.ofSeconds(9), Duration.ofSeconds(9).plusMillis(30));
    }

    @Test
    void sleepOfTheMachineDoesNotShortenTheWaitOfThoseWhoseClockStood() throws IOException {
        live();
        facts.sleep(Duration.ofHours(1));
        assertThat(quarantine().duration())
                .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(10).plusMillis(30));
    }

    @Test
    void anotherBootWaitsInFull() throws IOException {
        live();
        facts.bootId = Optional.of("boot-2");
        assertFullWait("started anew");
        facts.bootId = Optional.empty();
        assertFullWait("does not say when it was started");
    }

    /** A life that keeps something for 20 s, and ends without a word. */
    private void keep() throws IOException {
        try (MemberFile file = open()) {
            file.forgotten();
            MemberRecord record = record(file.nextEpoch(0));
            file.force(new MemberRecord(record.epoch(), TTL, record.horizonNanos(), true, KEPT.toNanos()));
        }
        facts.file(path);
    }

    @Test
    void noProofEndsTheWaitForWhatIsKept() throws IOException {
        keep();
        facts.pass(Duration.ofSeconds(15));
        Quarantine wait = quarantine();
        assertThat(wait.kept())
                .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(5).plusMillis(20));
        assertThat(wait.duration()).as("leases are over").isEqualTo(wait.kept());
        facts.pass(Duration.ofSeconds(6));
        assertThat(quarantine().duration()).isZero();
    }

    @Test
    void sleepOfTheMachineDoesNotShortenWhatIsKept() throws IOException {
        keep();
        facts.sleep(Duration.ofHours(1));
        assertThat(quarantine().kept()).isEqualTo(KEPT);
    }

    @Test
    void whatACleanEndKeptIsKeptByNameAfterAnotherBoot() throws IOException {
        try (MemberFile file = open()) {
            file.forgotten();
            MemberRecord record = record(file.nextEpoch(0));
            MemberRecord kept = new MemberRecord(record.epoch(), TTL, record.horizonNanos(), true, KEPT.toNanos());
            file.force(kept);
            List<GrantTable.Entry> left = List.of(entry("kept", 0, KEPT), entry("held", TTL, Duration.ZERO));
            assertThat(file.forceClean(kept, CarriedOverGrants.none().table(left, List.of())))
                    .isTrue();
        }
        facts.file(path);
        facts.bootId = Optional.of("boot-2");
        facts.boot = OptionalLong.of(Duration.ofSeconds(12).toNanos());
        facts.nano = Duration.ofSeconds(12).toNanos();
        try (MemberFile file = open()) {
            assertThat(file.provable()).isTrue();
            PreviousRun last = file.previousRun(Optional.empty(), 1, facts.nano);
            assertThat(last.waitNanos())
                    .as("leases may be believed in elsewhere")
                    .isEqualTo(FULL.toNanos());
            assertThat(last.keptNanos()).as("no other name has to wait").isZero();
            assertThat(last.carriedOver().size()).isEqualTo(1);
            assertThat(last.longestKept()).isEqualTo(KEPT.minusSeconds(12).toNanos());
        }
    }

    private static GrantTable.Entry entry(String name, long left, Duration keep) {
        Owner owner = new Owner("c", Map.of());
        return new GrantTable.Entry(
                LeaseKeys.lock(name),
                GrantTable.NOBODY,
                new LockCall.Import(5, 5, LockMode.EXCLUSIVE, 1, TTL, left, keep.toNanos(), owner));
    }

    /** Whatever the wall clock says: as much has passed as the machine has run since. */
    @Test
    void anotherBootCountsFromItsStart() throws IOException {
        keep();
        facts.bootId = Optional.of("boot-2");
        facts.boot = OptionalLong.of(Duration.ofSeconds(12).toNanos());
        facts.nano = Duration.ofSeconds(12).toNanos();
        facts.wall += Duration.ofDays(1).toMillis();
        assertThat(quarantine().kept()).isEqualTo(KEPT.minusSeconds(12));
        facts.pass(Duration.ofHours(1));
        assertThat(quarantine().kept()).isZero();
    }

    @Test
    void whereNoClockGoesOnNothingHasPassed() throws IOException {
        keep();
        facts.pass(Duration.ofHours(1));
        facts.timeNamespace = Optional.of("time:[2]");
        assertThat(quarantine().kept()).isEqualTo(KEPT);
    }

    @Test
    void withoutABootClockTheWallClockCounts() throws IOException {
        facts.boot = OptionalLong.empty();
        facts.bootId = Optional.empty();
        keep();
        assertThat(quarantine().kept()).isEqualTo(KEPT);
        facts.wall += Duration.ofSeconds(7).toMillis();
        assertThat(quarantine().kept()).isEqualTo(KEPT.minusSeconds(7));
        facts.wall -= Duration.ofDays(1).toMillis();
        assertThat(quarantine().kept()).isEqualTo(KEPT);
    }

    /** A writer with an uptime of its own, as in a container, and a reader beside it. */
    @Test
    void anUptimeOfItsOwnShortensNothing() throws IOException {
        OptionalLong uptime = facts.boot;
        facts.boot = OptionalLong.of(Duration.ofSeconds(7).toNanos());
        keep();
        facts.boot = uptime;
        assertThat(quarantine().kept()).isEqualTo(KEPT);
    }

    @Test
    void anotherTimeNamespaceWaitsInFull() throws IOException {
        live();
        facts.timeNamespace = Optional.of("time:[2]");
        assertFullWait("time namespace");
        facts.timeNamespace = Optional.empty();
        assertFullWait("time namespace");
    }

    @Test
    void aContainerWithAnUptimeOfItsOwnWaitsInFull() throws IOException {
        live();
        facts.boot = OptionalLong.of(Duration.ofMinutes(2).toNanos());
        assertFullWait("uptime of its own");
    }

    @Test
    void clocksThatContradictTheLastLifeWaitInFull() throws IOException {
        live();
        facts.boot =
                OptionalLong.of(facts.boot.getAsLong() - Duration.ofMinutes(1).toNanos());
        assertFullWait("contradict");
        facts.boot =
                OptionalLong.of(facts.boot.getAsLong() + Duration.ofMinutes(2).toNanos());
        facts.nano += Duration.ofMinutes(3).toNanos();
        assertFullWait("contradict");
    }

    @Test
    void aSystemWithoutABootClockWaitsInFull() throws IOException {
        facts.boot = OptionalLong.empty();
        live();
        assertFullWait("no boot clock");
    }

    @Test
    void aCopyThatWasMovedIntoPlaceWaitsInFull() throws IOException {
        live();
        Path copy = Files.copy(path, directory.resolve("copy"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.move(copy, path, StandardCopyOption.REPLACE_EXISTING);
        assertFullWait("is a copy");
    }

    @Test
    void anOlderCopyWrittenInPlaceKeepsTheInodeAndWaitsInFull() throws IOException {
        live();
        facts.wall += 5000;
        byte[] old = Files.readAllBytes(path);
        FileTime modified = Files.getLastModifiedTime(path);
        live();
        facts.pass(Duration.ofSeconds(5));
        awaitFileClock();
        Files.write(path, old);
        Files.setLastModifiedTime(path, modified);
        assertFullWait("changed by something else");
    }

    @Test
    void aReplacedClientsLockWaitsInFull() throws IOException {
        live();
        assertThat(provable()).isTrue();
        settings = new MemberSettings("cluster", "node", 1, 2, Duration.ofSeconds(60), 1, "(dev=1,ino=3)");
        assertFullWait("clients.lock");
        assertThat(provable()).isFalse();
    }

    @Test
    void whatIsWrittenBeforeEarlierLeasesHaveEndedSaysThatNoByteIsAProof() throws IOException {
        try (MemberFile file = open()) {
            assertThat(file.provable()).isFalse();
            file.force(record(file.nextEpoch(0)));
        }
        facts.file(path);
        try (MemberFile file = open()) {
            assertThat(file.quarantine().duration()).isBetween(Duration.ofNanos(TTL), Duration.ofMillis(10_100));
            assertThat(file.provable()).isFalse();
            file.forgotten();
            file.force(record(file.nextEpoch(0)));
        }
        facts.file(path);
        assertThat(provable()).isTrue();
    }

    @Test
    void garbageWaitsInFull() throws IOException {
        live();
        Files.write(path, new byte[] {1, 2, 3});
        assertThat(start()).isInstanceOf(Damaged.class);
        assertFullWait("cannot be read");
    }

    @Test
    void oneDamagedHalfWaitsInFullAndKeepsTheEpoch() throws IOException {
        live();
        long epoch = start().storedEpoch();
        byte[] bytes = Files.readAllBytes(path);
        for (int slot = 0; slot < 2; slot++) {
            byte[] damaged = bytes.clone();
            damaged[slot * MemberSlot.SIZE + 100] ^= 1;
            Files.write(path, damaged);
            assertThat(start()).isInstanceOf(Damaged.class);
            assertThat(start().storedEpoch()).as("in both slots").isEqualTo(epoch);
            assertFullWait("one of its halves");
        }
    }

    @Test
    void anotherClusterNodeListOrSettingsIsForeign() throws IOException {
        live();
        MemberSettings mine = settings;
        long epoch = start().storedEpoch();
        Duration max = mine.maxTtl();
        for (MemberSettings other : List.of(
                new MemberSettings("other", "node", 1, 2, max, 1, mine.lockFile()),
                new MemberSettings("cluster", "other", 1, 2, max, 1, mine.lockFile()),
                new MemberSettings("cluster", "node", 9, 2, max, 1, mine.lockFile()),
                new MemberSettings("cluster", "node", 1, 2, max, 9, mine.lockFile()),
                new MemberSettings("cluster", "node", 1, 9, max, 1, mine.lockFile()))) {
            settings = other;
            assertThat(start()).isInstanceOf(Foreign.class);
            assertThat(start().storedEpoch()).isEqualTo(epoch);
            assertFullWait("not of this member");
        }
    }

    @Test
    void anUnknownFormatIsForeign() throws IOException {
        live();
        byte[] bytes = Files.readAllBytes(path);
        java.nio.ByteBuffer slot = java.nio.ByteBuffer.wrap(bytes);
        slot.putInt(8, 7);
        slot.putInt(MemberSlot.SIZE - 4, MemberSlot.crc(bytes, MemberSlot.SIZE - 4));
        Files.write(path, bytes);
        assertThat(start()).isInstanceOf(Foreign.class);
        assertFullWait("its format is 7");
    }

    @Test
    void theLargestTtlGivenCountsWhereItIsLongerThanThePresentMaximum() throws IOException {
        try (MemberFile file = open()) {
            file.force(new MemberRecord(
                    5,
                    Duration.ofMinutes(10).toNanos(),
                    BootClock.horizon(facts, Duration.ofMinutes(10).toNanos())));
        }
        facts.bootId = Optional.of("boot-2");
        assertThat(quarantine().duration()).isEqualTo(Quarantine.full(Duration.ofMinutes(10)));
    }

    @Test
    void aHorizonBeyondAnyLeaseOfAClientWaitsInFullAndIsNotForgotten() throws IOException {
        Duration far = FULL.multipliedBy(2);
        try (MemberFile file = open()) {
            file.force(new MemberRecord(5, TTL, BootClock.horizon(facts, far.toNanos())));
        }
        facts.file(path);
        facts.pass(Duration.ofSeconds(1));
        assertFullWait("leases of the last life may be held for another 62 s");
        assertThat(quarantine().horizon()).isGreaterThanOrEqualTo(far.minusSeconds(1));
    }

    @Test
    void aMemberThatDoesNotKnowWhatItPromisedHasAHorizonBehindAllOfIt() throws IOException {
        live();
        facts.bootId = Optional.of("boot-2");
        try (MemberFile file = open()) {
            Quarantine wait = file.previousRun(Optional.empty(), 2, facts.nano).quarantine();
            assertThat(wait.duration()).isEqualTo(FULL);
            assertThat(wait.horizon()).isEqualTo(FULL.multipliedBy(2));
        }
    }

    /** What it has promised to other members lasts for leases of that life, and machines add those of this one. */
    @Test
    void aMemberWithAShorterLongestTtlWaitsForAllThatItPromisedByTheLongerOne() throws IOException {
        long longer = Duration.ofSeconds(60).toNanos();
        try (MemberFile file = open()) {
            file.force(new MemberRecord(5, longer, BootClock.horizon(facts, longer)));
        }
        facts.file(path);
        settings = new MemberSettings("cluster", "node", 1, 3, Duration.ofSeconds(10), 1, "(dev=1,ino=2)");
        try (MemberFile file = open()) {
            assertThat(file.start()).isInstanceOf(Foreign.class);
            Quarantine wait = file.previousRun(Optional.empty(), 2, facts.nano).quarantine();
            assertThat(wait.duration()).isEqualTo(FULL.multipliedBy(2));
            assertThat(file.previousRun(Optional.empty(), 1, facts.nano).waitNanos())
                    .isEqualTo(FULL.toNanos());
        }
    }

    // What is beside the file

    @Test
    void whatIsBesideTheFileCountsWhereThisIsTheFileThatWasWritten() throws IOException {
        settings = named("cluster", 2, 1);
        live();
        assertThat(lost()).isEmpty();
        facts.bootId = Optional.of("boot-2");
        settings = named("cluster", 77, 1);
        assertThat(lost()).as("another run of the machine, and other settings").isEmpty();
    }

    @Test
    void whatIsBesideAnyOtherFileIsLost() throws IOException {
        assertThat(lost()).hasValueSatisfying(why -> assertThat(why).contains("is missing"));
        Files.delete(path);
        MemberSettings own = named("cluster", 2, 1);
        settings = own;
        live();
        settings = named("other", 2, 1);
        assertThat(lost()).as("of another cluster").isPresent();
        settings = named("cluster", 2, 7);
        assertThat(lost()).as("of another algorithm").isPresent();
        settings = own;
        byte[] bytes = Files.readAllBytes(path);
        byte[] damaged = bytes.clone();
        damaged[100] ^= 1;
        Files.write(path, damaged);
        assertThat(lost()).as("damaged").isPresent();
        Files.write(path, new byte[0]);
        assertThat(lost()).as("the first start ended before it wrote anything").isPresent();
        Files.delete(path);
        live();
        awaitFileClock();
        Path copy = Files.copy(path, directory.resolve("copy"));
        Files.move(copy, path, StandardCopyOption.REPLACE_EXISTING);
        assertThat(lost()).hasValueSatisfying(why -> assertThat(why).contains("copy"));
    }

    private static MemberSettings named(String cluster, long settingsHash, int algorithm) {
        return new MemberSettings(
                cluster, "node", 1, settingsHash, Duration.ofSeconds(60), algorithm, "", List.of("node"));
    }

    private Optional<String> lost() throws IOException {
        try (MemberFile file = open()) {
            return file.lost();
        }
    }

    @Test
    void aCleanEndCarriesTheLiveGrants() throws IOException {
        liveAndEndInOrder(List.of(new byte[] {1, 2}, new byte[0], new byte[] {3}));
        assertThat(start()).isInstanceOfSatisfying(Restarted.class, r -> {
            assertThat(r.clean()).isTrue();
            assertThat(r.stored().grants()).containsExactly(new byte[] {1, 2}, new byte[0], new byte[] {3});
        });
        assertThat(quarantine().duration()).isZero();
        live();
        assertThat(start())
                .isInstanceOfSatisfying(
                        Restarted.class,
                        r -> assertThat(r.clean())
                                .as("OPEN was forced over CLEAN")
                                .isFalse());
    }

    @Test
    void moreGrantsThanTheRoomMakeTheFileGrow() throws IOException {
        List<byte[]> grants = java.util.Collections.nCopies(5000, new byte[100]);
        liveAndEndInOrder(grants);
        assertThat(start())
                .isInstanceOfSatisfying(
                        Restarted.class, r -> assertThat(r.stored().grants()).hasSize(5000));
    }

    @Test
    void grantsBeyondTheLimitAreNotKeptAndTheFileStaysOpen() throws IOException {
        byte[] large = new byte[TABLE];
        try (MemberFile file = open()) {
            MemberRecord record = record(5);
            file.force(record);
            assertThat(file.forceClean(record, List.of(large))).isFalse();
        }
        assertThat(start())
                .isInstanceOfSatisfying(
                        Restarted.class, r -> assertThat(r.clean()).isFalse());
    }

    private static final int TABLE = MemberFile.TABLE_LIMIT;

    @Test
    void aDamagedTableOfGrantsIsNotImported() throws IOException {
        liveAndEndInOrder(List.of(new byte[] {1, 2}));
        byte[] bytes = Files.readAllBytes(path);
        bytes[(int) MemberFile.TABLE_AT + 4] ^= 1;
        Files.write(path, bytes);
        assertThat(start()).isInstanceOf(Damaged.class);
        assertFullWait("table of grants");
    }

    @Test
    void aCleanFileThatComesBackIsNotImported() throws IOException {
        liveAndEndInOrder(List.of(new byte[] {1}));
        facts.wall += 5000;
        byte[] clean = Files.readAllBytes(path);
        live();
        awaitFileClock();
        Files.write(path, clean);
        assertThat(start())
                .isInstanceOfSatisfying(
                        Restarted.class, r -> assertThat(r.clean()).isFalse());
        assertFullWait("changed by something else");
    }

    @Test
    void epochsRise() throws IOException {
        long first;
        try (MemberFile file = open()) {
            first = file.nextEpoch(0);
            file.force(record(first));
            assertThat(file.nextEpoch(0)).isGreaterThan(first);
        }
        facts.wall -= Duration.ofDays(400).toMillis();
        try (MemberFile file = open()) {
            assertThat(file.nextEpoch(0)).as("the wall clock went back").isEqualTo(first + 1);
            assertThat(file.nextEpoch(first + 7)).as("heard").isEqualTo(first + 8);
        }
        Files.delete(path);
        facts.wall += Duration.ofDays(401).toMillis();
        try (MemberFile file = open()) {
            assertThat(file.nextEpoch(0)).as("only the wall clock is left").isGreaterThan(first);
        }
    }

    @Test
    void anEpochFitsInto32Bits() {
        assertThat(Epoch.next(0, 0, 0)).isEqualTo(1);
        assertThat(Epoch.next(0, 0, 1_577_836_800_000L + 5_500)).isEqualTo(5);
        assertThat(Epoch.next(Epoch.MAX - 1, 0, Long.MAX_VALUE)).isEqualTo(Epoch.MAX);
        assertThatThrownBy(() -> Epoch.next(Epoch.MAX, 0, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aFileThatIsRemovedReplacedOrWrittenWhileInUseStopsTheMember() throws IOException {
        List<Interference> interferences = List.of(
                Files::delete,
                p -> Files.move(Files.copy(p, directory.resolve("copy")), p, StandardCopyOption.REPLACE_EXISTING),
                p -> Files.write(p, new byte[(int) Files.size(p)]));
        for (Interference interference : interferences) {
            Files.deleteIfExists(path);
            try (MemberFile file = open()) {
                file.force(record(5));
                interference.on(path);
                assertThatThrownBy(() -> file.force(record(5)))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("while in use");
                assertThatThrownBy(() -> file.force(record(5)))
                        .as("for good")
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("failed before");
                assertThat(file.forceClean(record(5), List.of())).isFalse();
            }
        }
    }

    private interface Interference {
        void on(Path path) throws IOException;
    }

    @Test
    void forcesTakeNoFurtherRoom() throws IOException {
        live();
        long size = Files.size(path);
        try (MemberFile file = open()) {
            for (int i = 0; i < 10; i++) {
                file.force(record(5));
            }
            assertThat(file.forceClean(record(5), List.of(new byte[1000]))).isTrue();
        }
        assertThat(Files.size(path)).isEqualTo(size);
    }

    @Test
    void anInterruptedThreadMayForce() throws IOException {
        try (MemberFile file = open()) {
            Thread.currentThread().interrupt();
            file.force(record(5));
            file.force(record(5));
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(start().storedEpoch()).isEqualTo(5);
    }

    @Test
    void theNewestOfTwoSlotsCounts() throws IOException {
        for (int writes = 1; writes <= 3; writes++) {
            Files.deleteIfExists(path);
            try (MemberFile file = open()) {
                for (int i = 1; i <= writes; i++) {
                    file.force(new MemberRecord(5, i, BootClock.horizon(facts, i)));
                }
            }
            int last = writes;
            assertThat(start())
                    .isInstanceOfSatisfying(
                            Restarted.class,
                            r -> assertThat(r.stored().record().largestTtlNanos())
                                    .isEqualTo(last));
        }
    }

    @Test
    void thisMachineHasTheFacts() throws IOException {
        SystemFacts system = new SystemFacts();
        org.junit.jupiter.api.Assumptions.assumeTrue(Files.exists(Path.of("/proc/uptime")), "needs Linux");
        assertThat(system.bootId()).isPresent();
        assertThat(system.timeNamespace()).isPresent();
        assertThat(system.bootNanos()).isPresent();
        live();
        assertThat(system.file(path))
                .hasValueSatisfying(f -> assertThat(f.changedMillis())
                        .isCloseTo(system.wallMillis(), org.assertj.core.data.Offset.offset(600_000L)));
        assertThat(SystemFacts.uptimeNanos("648.48 1240.21")).hasValue(648_480_000_000L);
        assertThat(SystemFacts.uptimeNanos("garbage")).isEmpty();
        assertThat(SystemFacts.uptimeNanos("")).isEmpty();
    }

    private static final List<String> MEMBERS = List.of("a:1", "b:1", "c:1");

    private MemberSettings among(List<String> members) {
        return new MemberSettings("cluster", "node", members.hashCode(), 2, Duration.ofSeconds(60), 1, "", members);
    }

    private Optional<StoredList> list() throws IOException {
        try (MemberFile file = open()) {
            return file.list();
        }
    }

    private void live(boolean opened) throws IOException {
        try (MemberFile file = open()) {
            file.force(new MemberRecord(file.nextEpoch(0), TTL, BootClock.horizon(facts, TTL), opened));
        }
        facts.file(path);
    }

    @Test
    void theListOfTheLastLifeIsKnownToALifeWithAnotherOne() throws Exception {
        settings = among(MEMBERS);
        assertThat(list()).isEmpty();
        Files.delete(path);
        live(false);
        assertThat(list()).hasValue(new StoredList(MEMBERS, false));
        live(true);
        assertThat(list()).hasValue(new StoredList(MEMBERS, true));

        settings = among(List.of("a:1", "b:1"));
        assertThat(start()).isInstanceOf(StartState.Foreign.class);
        assertThat(list()).hasValue(new StoredList(MEMBERS, true));
    }

    @Test
    void aLifeThatServesAnotherAlgorithmHasNotOpenedUnderTheList() throws Exception {
        settings = among(MEMBERS);
        live(true);
        assertThat(file(MemberFile::moved)).isFalse();
        settings = new MemberSettings("cluster", "node", MEMBERS.hashCode(), 2, settings.maxTtl(), 9, "", MEMBERS);
        assertThat(list()).hasValue(new StoredList(MEMBERS, false));
        assertThat(file(MemberFile::moved)).isTrue();
        live(false);
        assertThat(file(MemberFile::moved)).isFalse();
        assertThat(file(MemberFile::waited))
                .as("for those who may serve the former one")
                .isTrue();
        live(true);
        assertThat(file(MemberFile::waited)).isFalse();
    }

    private boolean file(Predicate<MemberFile> question) throws IOException {
        try (MemberFile file = open()) {
            return question.test(file);
        }
    }

    @Test
    void aCopyOfAFileDoesNotSayThatItsListWasOpened() throws Exception {
        settings = among(MEMBERS);
        live(true);
        facts.wall += 5_000;
        Files.copy(path, directory.resolve("copy"));
        Files.move(directory.resolve("copy"), path, StandardCopyOption.REPLACE_EXISTING);
        facts.file(path);

        assertThat(list()).hasValue(new StoredList(MEMBERS, false));
    }

    @Test
    void theListOfAnotherMemberOrOfADamagedFileIsNone() throws Exception {
        settings = among(MEMBERS);
        live(true);
        settings = new MemberSettings("cluster", "other", 1, 2, Duration.ofSeconds(60), 1, "", MEMBERS);
        assertThat(list()).isEmpty();
        settings = among(MEMBERS);
        byte[] bytes = Files.readAllBytes(path);
        bytes[100] ^= 1;
        Files.write(path, bytes);
        assertThat(list()).isEmpty();
    }

    @Test
    void aListThatDoesNotFitIntoASlotIsRefused() {
        List<String> many = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            many.add("member-" + i + ":7400");
        }
        assertThatThrownBy(() -> among(many)).hasMessageContaining("2048 bytes");
    }

    /** Where cells elect each on their own. */
    @Test
    void anotherNumberOfShardsIsAsAnotherAlgorithm() throws IOException {
        live();
        MemberSettings fewer =
                new MemberSettings("cluster", "node", 5, 2, Duration.ofSeconds(60), 1, "(dev=1,ino=2)", List.of("n"));
        try (MemberFile file = MemberFile.open(path, facts, fewer)) {
            file.force(record(file.nextEpoch(0)));
        }
        facts.file(path);
        MemberSettings more =
                new MemberSettings("cluster", "node", 7, 2, Duration.ofSeconds(60), 1, "(dev=1,ino=2)", List.of("n"));
        try (MemberFile file = MemberFile.open(path, facts, more, hash -> hash == 5)) {
            assertThat(file.moved()).isTrue();
            assertThat(file.isRegrouped()).isTrue();
            assertThat(file.lost()).isPresent();
            assertThat(file.list().orElseThrow().opened()).isFalse();
            assertThat(file.quarantine().reason()).contains("another number of shards");
            assertThat(file.quarantine().duration()).isEqualTo(FULL);
        }
        try (MemberFile file = MemberFile.open(path, facts, more)) {
            assertThat(file.moved()).isFalse();
            assertThat(file.lost()).isEmpty();
        }
    }
}
