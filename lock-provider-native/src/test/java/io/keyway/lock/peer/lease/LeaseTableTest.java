// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** F6: a clean end carries every grant that lives, and the next start holds them all. */
class LeaseTableTest extends LeaseScenarios {
    private static final long TTL = LeaseWorld.TTL;

    private List<GrantTable.Entry> table() {
        return GrantTable.of(world.member(), LeaseKeys.ALGORITHM, world.now()).orElseThrow();
    }

    private void restartWith(List<GrantTable.Entry> table) {
        world.restart(
                Turn.NEVER,
                () -> table.forEach(entry -> world.command(entry.key().id(), entry.grant())));
    }

    private static byte[] bytes(GrantTable.Entry entry) {
        WireWriter buffer = new WireWriter(GrantTable.MAX_ENTRY_BYTES);
        entry.write(buffer);
        return buffer.toBytes();
    }

    @Test
    void everyGrantIsExportedAndSurvivesItsBytes() throws WireException {
        c(0).acquire("a");
        c(1).acquire("b");
        c(2).acquire("a");
        world.settle();
        List<GrantTable.Entry> table = table();
        assertThat(table).extracting(entry -> entry.key().id()).containsExactly("a", "b");
        assertThat(table)
                .extracting(entry -> entry.grant().token())
                .containsExactly(c(0).believes("a"), c(1).believes("b"));
        for (GrantTable.Entry entry : table) {
            assertThat(entry.grant().left()).isEqualTo(TTL);
            GrantTable.Entry read = GrantTable.read(LeaseKeys.ALGORITHM, new WireReader(bytes(entry)));
            assertThat(read.key()).isEqualTo(entry.key());
            assertThat(read.grant()).isEqualTo(entry.grant());
            assertThat(read.holder()).isEqualTo(GrantTable.NOBODY);
        }
    }

    @Test
    void theNextStartHoldsWhatWasExportedAndGrantsTheRestAtOnce() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).isolate();
        restartWith(table());
        c(1).acquire("a");
        c(2).acquire("free");
        world.settle();
        assertThat(c(2).believes("free")).isPositive();
        assertThat(c(1).believes("a")).isZero();
        c(0).lose(true);
        c(0).open();
        world.advance(2 * TTL);
        assertThat(c(0).believes("a")).isEqualTo(token);
        assertThat(c(1).believes("a")).isZero();
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isGreaterThan(token);
    }

    @Test
    void whatNobodyHasReassertedIsExportedAgainWithTheRestOfItsTime() {
        c(0).acquire("a");
        world.settle();
        c(0).isolate();
        restartWith(table());
        world.advance(TTL / 4);
        assertThat(table()).singleElement().satisfies(entry -> {
            assertThat(entry.holder()).isEqualTo(GrantTable.NOBODY);
            assertThat(entry.grant().ttl()).isEqualTo(TTL);
            assertThat(entry.grant().left()).isEqualTo(TTL * 3 / 4);
        });
        restartWith(table());
        c(1).acquire("a");
        world.advance(TTL * 3 / 4 - 1);
        assertThat(c(1).believes("a")).isZero();
        world.advance(1);
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void aGrantWhoseOwnerIsDeadIsDisownedButNotOneThatWasReasserted() {
        c(0).acquire("dead");
        c(1).acquire("alive");
        world.settle();
        long alive = c(1).believes("alive");
        List<GrantTable.Entry> table = table();
        c(0).isolate();
        restartWith(table);
        world.settle();
        c(0).lose(false);
        for (GrantTable.Entry entry : table) {
            world.command(entry.key().id(), new LockCall.Disown(entry.grant().token()));
        }
        c(2).acquire("dead");
        c(2).acquire("alive");
        world.settle();
        assertThat(c(2).believes("dead")).isPositive();
        assertThat(c(2).believes("alive")).isZero();
        assertThat(c(1).believes("alive")).isEqualTo(alive);
    }

    @Test
    void aNameThatIsKeptClosedIsNotSomethingThatATableCanSay() {
        c(0).acquire("a");
        c(1).acquire("b");
        world.settle();
        long a = c(0).believes("a");
        world.restart(true);
        world.settle();
        c(1).claim("a", a + 5);
        world.settle();
        assertThat(world.goals).contains(LockGoal.REASSERTIONS_IN_CONFLICT);
        assertThat(GrantTable.of(world.member(), LeaseKeys.ALGORITHM, world.now()))
                .isEmpty();
    }

    @Test
    void bytesThatEndEarlyAreRefused() {
        c(0).acquire("a");
        world.settle();
        byte[] whole = bytes(table().get(0));
        List<Integer> read = new ArrayList<>();
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> GrantTable.read(LeaseKeys.ALGORITHM, new WireReader(part)))
                    .isInstanceOf(WireException.class);
            read.add(length);
        }
        assertThat(read).hasSizeGreaterThan(20);
    }
}
