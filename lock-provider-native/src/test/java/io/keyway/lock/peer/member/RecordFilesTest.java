// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.wire.RecordCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The records of cells that elect each on their own. */
class RecordFilesTest {
    private static final RecordCodec CODEC = new CounterAlgorithm().records().orElseThrow();

    @TempDir
    Path directory;

    private final FakeFacts facts = new FakeFacts();

    private RecordFiles open(int cells) throws IOException {
        return RecordFiles.open(directory.resolve("records"), cells, CODEC, facts, Optional.empty());
    }

    private static DurableRecord tally(long increment) {
        return new Tally(CounterAlgorithm.key("a"), List.of(increment));
    }

    private static List<DurableRecord> of(RecordFiles files, int cell) throws IOException {
        return files.of(cell).stream().map(RecordFiles.Found::record).toList();
    }

    /** Three cells that have forced something, each of the same machine. */
    private void force() throws IOException {
        try (RecordFiles files = open(3)) {
            files.count();
            files.force(Map.of(0, List.of(tally(1)), 2, List.of(tally(3), tally(4))));
            files.force(Map.of(1, List.of(tally(2))));
        }
    }

    @Test
    void eachCellHasTheRecordsOfItsOwnMachines() throws IOException {
        force();
        assertThat(directory.resolve("records")).exists();
        assertThat(directory.resolve("records-1")).exists();
        try (RecordFiles again = open(3)) {
            assertThat(again.lost()).isEmpty();
            assertThat(of(again, 0)).containsExactly(tally(1));
            assertThat(of(again, 1)).containsExactly(tally(2));
            assertThat(of(again, 2)).containsExactly(tally(4));
        }
        String lost = "of other groups";
        try (RecordFiles fewer = RecordFiles.open(directory.resolve("records"), 2, CODEC, facts, Optional.of(lost))) {
            assertThat(fewer.lost()).contains(lost);
            assertThat(directory.resolve("records-2")).doesNotExist();
        }
    }

    @Test
    void ifOneOfThemIsLostAllAreAndStayLost() throws IOException {
        force();
        Files.delete(directory.resolve("records-2"));
        try (RecordFiles again = open(3)) {
            assertThat(again.lost().orElseThrow()).contains("records-2 is missing");
            for (int cell = 0; cell < 3; cell++) {
                assertThat(of(again, cell)).isEmpty();
            }
        }
        try (RecordFiles cutShort = open(3)) {
            assertThat(cutShort.lost())
                    .as("nothing says yet for how long to wait")
                    .isPresent();
            cutShort.count();
        }
        try (RecordFiles last = open(3)) {
            assertThat(last.lost()).isEmpty();
            assertThat(of(last, 0)).isEmpty();
        }
    }

    @Test
    void oneFileIsForAllCellsAndNoneForNoRecords() throws IOException {
        try (RecordFiles one = open(1)) {
            one.force(Map.of(5, List.of(tally(1))));
            assertThat(directory.resolve("records-5")).doesNotExist();
        }
        try (RecordFiles again = open(1);
                RecordFiles none = RecordFiles.none()) {
            assertThat(of(again, 3)).containsExactly(tally(1));
            assertThat(none.of(0)).isEmpty();
            none.force(Map.of());
            assertThatThrownBy(() -> none.force(Map.of(0, List.of(tally(1)))))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("says that it forces nothing");
        }
    }
}
