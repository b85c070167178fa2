// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.net.CellHost;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.wire.RecordCodec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HorizonWriterTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final int CELLS = 64;
    private static final RecordCodec CODEC = new CounterAlgorithm().records().orElseThrow();

    /** A cell that notes what it is told. */
    private static final class Cell implements CellHost {
        final List<Long> forced = new ArrayList<>();

        @Override
        public void post(Input input) {
            forced.add(((Input.Forced) input).ticket());
        }
    }

    @TempDir
    Path directory;

    private final FakeFacts facts = new FakeFacts();
    private final MemberSettings settings = new MemberSettings("c", "a:1", 1, 2, Duration.ofSeconds(60), 1, "");
    private final List<Exception> failures = new ArrayList<>();
    private final DiskThread disk = new DiskThread("test-disk", failures::add);
    private final List<Cell> cells = new ArrayList<>();
    private boolean mayWrite = true;
    private MemberFile file;

    @BeforeEach
    void open() throws IOException {
        file = MemberFile.open(directory.resolve("member"), facts, settings);
        for (int i = 0; i < CELLS; i++) {
            cells.add(new Cell());
        }
    }

    @AfterEach
    void close() throws IOException {
        disk.end();
        file.close();
    }

    private HorizonWriter writer(long beyond) throws IOException {
        return writer(true, beyond);
    }

    private HorizonWriter writer(boolean listOpened, long beyond) throws IOException {
        return new HorizonWriter(
                file,
                RecordFiles.none(),
                facts,
                disk,
                5,
                SECOND,
                facts.nano,
                facts.nano,
                listOpened,
                beyond,
                this::check,
                failures::add);
    }

    private void check() throws IOException {
        if (!mayWrite) {
            throw new IOException("no longer ours");
        }
    }

    private MemberPromise promise(long epoch, long seconds) {
        return new MemberPromise(epoch, facts.nano + seconds * SECOND);
    }

    private StoredRecord stored() throws IOException {
        try (MemberFile again = MemberFile.open(directory.resolve("member"), facts, settings)) {
            return ((StartState.Restarted) again.start()).stored();
        }
    }

    @Test
    void whatManyCellsAskWhileTheDiskIsBusyIsOneWrite() throws Exception {
        HorizonWriter writer = writer(0);
        long before = stored().sequence();
        CountDownLatch busy = new CountDownLatch(1);
        disk.run(() -> awaitNothing(busy));
        for (int i = 0; i < CELLS; i++) {
            writer.promise(cells.get(i), i, promise(5, 10 + i), 1);
            writer.promise(cells.get(i), i, promise(5, 20 + i), 2);
        }
        busy.countDown();
        disk.drain();

        StoredRecord after = stored();
        assertThat(after.sequence() - before).isEqualTo(1);
        assertThat(after.record().horizonNanos()).isEqualTo(BootClock.horizon(facts, (20 + CELLS - 1) * SECOND));
        assertThat(cells).allSatisfy(cell -> assertThat(cell.forced).containsExactly(2L));
    }

    @Test
    void whatAnEarlierWriteCoversIsNoWriteAtAll() throws Exception {
        HorizonWriter writer = writer(4 * SECOND);
        long before = stored().sequence();
        for (int i = 0; i < CELLS; i++) {
            writer.promise(cells.get(i), i, new MemberPromise(5, facts.nano + 10 * SECOND + i * SECOND / 16), 1);
            disk.drain();
        }

        assertThat(stored().sequence() - before).isEqualTo(1);
        assertThat(cells).allSatisfy(cell -> assertThat(cell.forced).containsExactly(1L));
    }

    @Test
    void theFileHasTheHighestEpochAndTheFurthestHorizonOfAllCells() throws Exception {
        HorizonWriter writer = writer(0);
        writer.promise(cells.get(0), 0, promise(7, 30), 1);
        disk.drain();
        writer.promise(cells.get(1), 1, promise(6, 20), 1);
        disk.drain();

        assertThat(stored().record().epoch()).isEqualTo(7);
        assertThat(stored().record().horizonNanos()).isEqualTo(BootClock.horizon(facts, 30 * SECOND));
        assertThat(writer.last().epoch()).isEqualTo(7);
        assertThat(cells.get(1).forced).containsExactly(1L);
    }

    @Test
    void theFileSaysForHowMuchLongerAnyCellKeepsSomething() throws Exception {
        HorizonWriter writer = writer(0);
        writer.promise(cells.get(0), 0, promise(5, 60), 1);
        disk.drain();
        assertThat(stored().record().keptNanos()).isZero();
        writer.promise(cells.get(0), 0, new MemberPromise(5, facts.nano + 60 * SECOND, facts.nano + 30 * SECOND), 2);
        writer.promise(cells.get(1), 1, new MemberPromise(5, facts.nano + 60 * SECOND, facts.nano + 20 * SECOND), 1);
        disk.drain();
        assertThat(stored().record().keptNanos()).isEqualTo(30 * SECOND);
        assertThat(cells.get(0).forced).containsExactly(1L, 2L);

        facts.nano += 10 * SECOND;
        writer.promise(cells.get(1), 1, promise(5, 90), 2);
        disk.drain();
        assertThat(stored().record().keptNanos()).isEqualTo(20 * SECOND);
        assertThat(writer.last().keptNanos()).isEqualTo(20 * SECOND);
        facts.nano += 30 * SECOND;
        assertThat(writer.last().keptNanos()).isZero();
    }

    @Test
    void nothingIsPromisedOnceTheFileIsNotOurs() throws Exception {
        HorizonWriter writer = writer(0);
        mayWrite = false;
        writer.promise(cells.get(0), 0, promise(5, 30), 1);
        disk.drain();

        assertThat(cells.get(0).forced).isEmpty();
        assertThat(failures).singleElement().satisfies(e -> assertThat(e).hasMessageContaining("no longer ours"));
    }

    @Test
    void aListIsWrittenAsOpenedOnce() throws Exception {
        HorizonWriter writer = writer(false, 0);
        assertThat(stored().record().listOpened()).isFalse();
        List<String> told = new ArrayList<>();
        writer.opened(SECOND, () -> told.add("opened"));
        writer.opened(SECOND, () -> told.add("opened again"));
        disk.drain();

        assertThat(told).containsExactly("opened");
        assertThat(stored().record().listOpened()).isTrue();
        assertThat(writer.last().listOpened()).isTrue();
    }

    /** Each of these runs is killed before its machines have forced anything. */
    @Test
    void whatWasLostIsWaitedForOnceHoweverOftenTheMemberStarts() throws Exception {
        Path path = directory.resolve("records");
        Duration full = Quarantine.full(settings.maxTtl());
        Duration waited = Duration.ZERO;
        for (int life = 0; life < 4; life++) {
            try (MemberFile member = MemberFile.open(directory.resolve("member"), facts, settings);
                    RecordFile records = RecordFile.open(path, CODEC, facts, Optional.empty())) {
                PreviousRun former = member.previousRun(records.lost(), 1, facts.nano);
                assertThat(former.quarantine().duration())
                        .as("after %s: %s", waited, former.quarantine().reason())
                        .isBetween(full.minus(waited), full.minus(waited).plusMillis(100));
                HorizonWriter unused = new HorizonWriter(
                        member,
                        RecordFiles.of(records),
                        facts,
                        disk,
                        member.nextEpoch(0),
                        settings.maxTtl().toNanos(),
                        facts.nano + former.awaitedNanos(),
                        facts.nano,
                        true,
                        0,
                        this::check,
                        failures::add);
            }
            facts.file(path);
            facts.file(directory.resolve("member"));
            facts.pass(Duration.ofSeconds(15));
            waited = waited.plusSeconds(15);
        }
    }

    @Test
    void recordsGoToTheFileOfTheirCell() throws Exception {
        Path first = directory.resolve("records");
        try (RecordFiles records = RecordFiles.open(first, 2, CODEC, facts, Optional.empty())) {
            HorizonWriter writer = new HorizonWriter(
                    file, records, facts, disk, 5, SECOND, facts.nano, facts.nano, true, 0, this::check, failures::add);
            Tally one = new Tally(CounterAlgorithm.key("a"), List.of(1L));
            Tally other = new Tally(CounterAlgorithm.key("a"), List.of(2L));
            writer.promise(cells.get(0), 0, one, 1);
            writer.promise(cells.get(1), 1, other, 7);
            disk.drain();
            assertThat(cells.get(1).forced).containsExactly(7L);
            assertThat(RecordFile.look(first, CODEC, facts)).containsExactly(one);
            assertThat(RecordFile.look(directory.resolve("records-1"), CODEC, facts))
                    .containsExactly(other);
        }
    }

    private static void awaitNothing(CountDownLatch busy) {
        try {
            busy.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
