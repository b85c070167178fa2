// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.session.SessionLife;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.spi.Owner;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CarriedOverGrantsTest {
    private static final long TTL = 8_000_000_000L;
    private static final long NOW = 100_000_000_000L;
    private static final Peer OWNER = new Peer(3);

    private static final long KEEP = 3 * TTL;

    @TempDir
    Path directory;

    private ByteLocks locks;
    /** This JVM has it, so its owner lives. */
    private long alive;

    @BeforeEach
    void open() {
        locks = ByteLocks.open(directory.resolve("clients.lock"));
        alive = locks.take();
    }

    private static GrantTable.Entry entry(String name, Peer holder) {
        return new GrantTable.Entry(
                LeaseKeys.lock(name),
                holder,
                new LockCall.Import(
                        7L << 31 | 9, 7L << 31 | 9, LockMode.EXCLUSIVE, 1, TTL, TTL, new Owner("c", Map.of())));
    }

    private static CarriedOverGrants of(long... bytes) throws WireException {
        List<Long> its = Arrays.stream(bytes).boxed().toList();
        List<byte[]> table = CarriedOverGrants.none()
                .table(List.of(entry("a", OWNER)), List.of(new SessionLife(OWNER, its, true, SessionLife.NO_LINK)));
        return CarriedOverGrants.read(LeaseKeys.ALGORITHM, table, NOW, 0);
    }

    private static final List<Input> DISOWNED =
            List.of(new Input.Command(LeaseKeys.lock("a"), new LockCall.Disown(7L << 31 | 9)));

    @Test
    void theGrantOfADeadOwnerIsDisownedAndThatOfALivingOneIsNot() throws WireException {
        assertThat(of(alive).settle(Set.of(), locks, NOW)).isEmpty();
        locks.release(alive);
        assertThat(of(alive).settle(Set.of(), locks, NOW)).isEqualTo(DISOWNED);
        assertThat(of().settle(Set.of(), locks, NOW))
                .as("of an owner without bytes")
                .isEmpty();
    }

    @Test
    void anOwnerAndItsGuardMustBothBeDead() throws WireException {
        long guard = locks.take();
        locks.release(alive);
        CarriedOverGrants inheritance = of(alive, guard);
        assertThat(inheritance.settle(Set.of(), locks, NOW)).isEmpty();
        locks.release(guard);
        assertThat(inheritance.settle(Set.of(), locks, NOW)).isEqualTo(DISOWNED);
        assertThat(inheritance.isEmpty()).isTrue();
    }

    @Test
    void anOwnerThatHasToldWithoutItGetsTimeToStop() throws WireException {
        CarriedOverGrants inheritance = of(alive);
        assertThat(inheritance.settle(Set.of(alive), locks, NOW + 1)).isEmpty();
        assertThat(inheritance.settle(Set.of(), locks, NOW + TTL / 4)).isEmpty();
        assertThat(inheritance.settle(Set.of(), locks, NOW + TTL / 4 + 1)).isEqualTo(DISOWNED);
        assertThat(inheritance.isEmpty()).isTrue();
    }

    @Test
    void whatIsOverByItsTimeIsForgotten() throws WireException {
        CarriedOverGrants inheritance = of(alive);
        assertThat(inheritance.longest()).isEqualTo(TTL);
        assertThat(inheritance.settle(Set.of(), locks, NOW + TTL)).isEmpty();
        assertThat(inheritance.isEmpty()).isTrue();
    }

    @Test
    void whatNobodyReassertedKeepsTheBytesThatItCameWith() throws WireException {
        CarriedOverGrants first = of(alive);
        CarriedOverGrants second = CarriedOverGrants.read(
                LeaseKeys.ALGORITHM, first.table(List.of(entry("a", GrantTable.NOBODY)), List.of()), NOW, 0);
        assertThat(second.settle(Set.of(), locks, NOW)).isEmpty();
        locks.release(alive);
        assertThat(second.settle(Set.of(), locks, NOW)).isEqualTo(DISOWNED);
    }

    /** What may be believed in is held for all of its time again; what is kept runs by the clock. */
    @Test
    void whatIsKeptIsKeptForWhatIsLeftOfIt() throws WireException {
        LockCall.Import held = entry("a", OWNER).grant();
        GrantTable.Entry place = new GrantTable.Entry(LeaseKeys.lock("a"), GrantTable.NOBODY, keeping(held, 0));
        GrantTable.Entry grant = new GrantTable.Entry(LeaseKeys.lock("b"), OWNER, keeping(held, TTL));
        List<byte[]> table = CarriedOverGrants.none().table(List.of(place, grant), List.of());

        CarriedOverGrants soon = CarriedOverGrants.read(LeaseKeys.ALGORITHM, table, NOW, TTL);
        assertThat(soon.size()).isEqualTo(2);
        assertThat(soon.longest()).isEqualTo(KEEP - TTL);
        assertThat(soon.imports()).allSatisfy(input -> {
            LockCall.Import taken = (LockCall.Import) ((Input.Command) input).call();
            assertThat(taken.keep()).isEqualTo(KEEP - TTL);
        });
        CarriedOverGrants late = CarriedOverGrants.read(LeaseKeys.ALGORITHM, table, NOW, KEEP);
        assertThat(late.size()).as("the place is over, the grant is not").isEqualTo(1);
        assertThat(late.longestKept()).isZero();
        assertThat(late.longest()).isEqualTo(TTL);
    }

    private static LockCall.Import keeping(LockCall.Import grant, long left) {
        return new LockCall.Import(grant.token(), grant.hi(), grant.mode(), 1, grant.ttl(), left, KEEP, grant.owner());
    }

    @Test
    void aTableOfAnotherLayoutIsNotGuessedAt() throws WireException {
        List<byte[]> table = CarriedOverGrants.none().table(List.of(entry("a", OWNER)), List.of());
        byte[] longer = Arrays.copyOf(table.get(0), table.get(0).length + 1);
        assertThatThrownBy(() -> CarriedOverGrants.read(LeaseKeys.ALGORITHM, List.of(longer), NOW, 0))
                .isInstanceOf(WireException.class);
    }
}
