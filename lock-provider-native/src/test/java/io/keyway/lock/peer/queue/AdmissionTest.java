// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    private record Claim(LockMode mode, int permits) implements Admission.Claim {}

    private static final Claim WRITER = new Claim(LockMode.EXCLUSIVE, 1);
    private static final Claim READER = new Claim(LockMode.SHARED, 1);
    private static final Admission EXCLUSIVE = Admission.of(LockMode.EXCLUSIVE);
    private static final Admission LOCKS = Admission.LOCKS;
    private static final Admission SEMAPHORES = Admission.SEMAPHORES;

    private static Admission.Claims all(Claim... granted) {
        return all(List.of(granted));
    }

    private static Admission.Claims all(List<Claim> granted) {
        Admission.Claims all = new Admission.Claims();
        granted.forEach(claim -> all.count(claim, 1));
        return all;
    }

    private static Claim permits(int count) {
        return new Claim(LockMode.PERMITS, count);
    }

    @Test
    void anExclusiveGrantStandsAlone() {
        assertThat(LOCKS.admits(all(), WRITER, 1)).isTrue();
        assertThat(LOCKS.admits(all(WRITER), WRITER, 1)).isFalse();
        assertThat(LOCKS.admits(all(WRITER), READER, 1)).isFalse();
        assertThat(LOCKS.admits(all(READER), WRITER, 1)).isFalse();
    }

    @Test
    void sharedGrantsStandTogether() {
        assertThat(LOCKS.admits(all(READER, READER, READER), READER, 1)).isTrue();
    }

    @Test
    void permitsAreNoMoreThanThereAreByTheWordOfWhoAsks() {
        assertThat(SEMAPHORES.admits(all(permits(2)), permits(1), 3)).isTrue();
        assertThat(SEMAPHORES.admits(all(permits(2)), permits(2), 3)).isFalse();
        assertThat(SEMAPHORES.admits(all(permits(2)), permits(2), 4)).isTrue();
        assertThat(SEMAPHORES.admits(all(), permits(4), 3)).isFalse();
        assertThat(SEMAPHORES.admits(all(permits(Integer.MAX_VALUE)), permits(1), Integer.MAX_VALUE))
                .as("sums do not run over")
                .isFalse();
    }

    @Test
    void modesThatAreNotServedAreNeverGranted() {
        assertThat(EXCLUSIVE.serves(LockMode.SHARED)).isFalse();
        assertThat(EXCLUSIVE.admits(all(), READER, 1)).isFalse();
        assertThat(EXCLUSIVE.admits(all(), permits(1), 1)).isFalse();
        assertThat(SEMAPHORES.admits(all(), WRITER, 1)).isFalse();
        assertThat(SEMAPHORES.admits(all(READER), permits(1), 9)).isFalse();
    }

    @Test
    void whatIsTakenAwayLeavesTheRest() {
        Admission.Claims granted = all(permits(2), permits(3));
        assertThat(SEMAPHORES.admits(granted.without(all(permits(3))), permits(1), 3))
                .isTrue();
        assertThat(SEMAPHORES.admits(granted.without(null), permits(1), 5)).isFalse();
        assertThat(granted.permits()).isEqualTo(5);
        assertThat(LOCKS.admits(all(READER, READER).without(all(READER)), WRITER, 1))
                .isFalse();
        assertThat(LOCKS.admits(all(READER).without(all(READER)), WRITER, 1)).isTrue();
    }

    /** Every list of grants, and every request beside it, is decided as in the rows of stores. */
    @Test
    void stepByStepItDecidesAsTheRulesOfRows() {
        int compared = 0;
        List<List<Claim>> alphabets = List.of(List.of(WRITER, READER), List.of(permits(1), permits(2), permits(3)));
        for (List<Claim> alphabet : alphabets) {
            Admission admission = alphabet.contains(WRITER) ? LOCKS : SEMAPHORES;
            for (List<Claim> granted : upTo(4, alphabet)) {
                for (Claim asked : alphabet) {
                    for (int capacity = 1; capacity <= 5; capacity++) {
                        assertThat(admission.admits(all(granted), asked, capacity))
                                .as("%s beside %s of %s", asked, granted, capacity)
                                .isEqualTo(new Rules().goesWith(granted, asked, capacity));
                        compared++;
                    }
                }
            }
        }
        assertThat(compared).isGreaterThan(1_000);
    }

    /** All lists of at most so many. */
    private static List<List<Claim>> upTo(int size, List<Claim> alphabet) {
        List<List<Claim>> all = new ArrayList<>(List.of(List.of()));
        for (int from = 0; all.get(from).size() < size; from++) {
            for (Claim next : alphabet) {
                List<Claim> longer = new ArrayList<>(all.get(from));
                longer.add(next);
                all.add(List.copyOf(longer));
            }
        }
        return all;
    }

    /** The rules by which stores admit. */
    private static final class Rules extends RowRules {
        boolean goesWith(List<Claim> granted, Claim asked, int capacity) {
            List<Entry> holders = IntStream.range(0, granted.size())
                    .mapToObj(i -> new Entry(
                            "c" + i,
                            request(granted.get(i), capacity, i),
                            Entry.State.HOLDING,
                            i + 1,
                            0,
                            0,
                            Long.MAX_VALUE,
                            "",
                            null))
                    .toList();
            return admits(new Row(holders), request(asked, capacity, granted.size()));
        }

        private static Request request(Claim claim, int capacity, long id) {
            LockKey.Kind kind = claim.mode() == LockMode.PERMITS ? LockKey.Kind.SEMAPHORE : LockKey.Kind.LOCK;
            LockKey key = new LockKey(kind, LockName.of("a"));
            Owner owner = new Owner("c", Map.of());
            return new Request(id, key, claim.mode(), claim.permits(), capacity, Duration.ofSeconds(8), true, owner);
        }
    }
}
