// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LockCodecTest {
    private static final Key KEY = LeaseKeys.lock("jobs/näme");
    private static final Probe PROBE = new Probe(
            Probe.Kind.SEARCH,
            new Probe.Agent(Long.MAX_VALUE, 7),
            1000,
            3,
            11,
            1,
            List.of(
                    new Probe.Edge(
                            new Probe.Agent(Long.MAX_VALUE, 7),
                            "cl\u00e9",
                            LockName.of("a/b"),
                            5,
                            1_000,
                            2_147_483_649L,
                            0),
                    new Probe.Edge(new Probe.Agent(1, 2), "", LockName.of("c"), 6, 0, 0, 8)));
    private static final Owner OWNER = new Owner("billing-7", Map.of("pid", "17", "host", "a"));
    private static final Participant PARTICIPANT =
            new Participant(OWNER, LockMode.PERMITS, 3, Tokens.of(9, 77), 123_456, 5_000);
    private static final long TOKEN = Tokens.of(0xFFFF_FFFFL, 500);
    private static final List<Message> ALL = List.of(
            new LockMessage.Acquire(
                    KEY,
                    -5,
                    LockMode.EXCLUSIVE,
                    1,
                    1,
                    1,
                    10_000_000_000L,
                    true,
                    false,
                    true,
                    5,
                    500,
                    7_000,
                    0,
                    -1,
                    OWNER),
            new LockMessage.Acquire(
                    KEY,
                    6,
                    LockMode.PERMITS,
                    3,
                    12,
                    4,
                    10_000_000_000L,
                    false,
                    true,
                    true,
                    5,
                    500,
                    0,
                    TOKEN,
                    -1,
                    OWNER),
            new LockMessage.Acquire(
                    KEY, 7, LockMode.EXCLUSIVE, 1, 1, 1, 1_000, false, true, true, 5, 500, 0, 0, 0, OWNER),
            new LockMessage.Acquire(
                    KEY,
                    8,
                    LockMode.EXCLUSIVE,
                    1,
                    1,
                    1,
                    1_000,
                    false,
                    true,
                    true,
                    5,
                    500,
                    0,
                    0,
                    WriterPolicy.LONGEST_QUIET.toNanos(),
                    OWNER),
            new LockMessage.Withdraw(KEY, Long.MAX_VALUE),
            new LockMessage.Release(KEY, TOKEN, TOKEN + 12),
            new LockMessage.Release(KEY, TOKEN, TOKEN - 1),
            new LockMessage.Accepted(KEY, TOKEN, TOKEN),
            new LockMessage.Denied(KEY, TOKEN),
            new LockMessage.Revoked(KEY, TOKEN + 1, TOKEN, TOKEN + 1),
            new LockMessage.Revoked(KEY, TOKEN, 0, 0),
            new LockMessage.Reassert(
                    KEY, 3, TOKEN, TOKEN + 2, TOKEN + Tokens.RANGE - 1, LockMode.SHARED, 2, 8_000_000_000L, OWNER),
            new LockMessage.Use(KEY, 4, List.of(PARTICIPANT, PARTICIPANT), List.of(PARTICIPANT), 2, true),
            new LockMessage.Granted(KEY, 3, TOKEN, TOKEN + Tokens.RANGE - 1, true),
            new LockMessage.Granted(KEY, 3, TOKEN, TOKEN, false, 12),
            new LockMessage.NotGranted(KEY, 3, RefusalCause.CROWDED, List.of()),
            new LockMessage.NotGranted(KEY, 3, RefusalCause.HELD, List.of(PARTICIPANT)),
            new LockMessage.Misdirected(KEY, 3),
            new LockMessage.Place(KEY, 3, 10_000, List.of(PARTICIPANT, PARTICIPANT)),
            new LockMessage.Recall(KEY, TOKEN, true),
            new LockMessage.Revoke(KEY, TOKEN, LeaseLoss.Cause.EXPIRED, ""),
            new LockMessage.Revoke(KEY, TOKEN, LeaseLoss.Cause.BROKEN, "stuck since noon"),
            new LockMessage.Revoke(KEY, TOKEN, LeaseLoss.Cause.DENIED, ""),
            new LockMessage.Reasserted(KEY, TOKEN, false),
            new LockMessage.Query(KEY, 4),
            new LockMessage.ListNames(LeaseKeys.DIRECTORY, 8, "jobs/", "", 100),
            new LockMessage.Page(LeaseKeys.DIRECTORY, 8, List.of("a", "b/c"), true),
            new LockMessage.Show(KEY, 9, 1_000),
            new LockMessage.Status(KEY, 9, List.of(PARTICIPANT), List.of(), 4, false),
            new LockMessage.Status(KEY, 9, List.of(PARTICIPANT), List.of(), List.of(PARTICIPANT), 3, 7, 0, true),
            new LockMessage.Watch(KEY, 9, 0, 1_000),
            new LockMessage.Watch(KEY, 9, Long.MAX_VALUE, 1_000),
            new LockMessage.Changed(KEY, 9, 1),
            new LockMessage.Changed(KEY, 9, LockMessage.Changed.UNTOLD),
            new LockMessage.Raise(KEY, 9, TOKEN),
            new LockMessage.Follow(KEY),
            new LockMessage.ClusterState(KEY, true, false, List.of("a:7400", "b:7400")),
            new LockMessage.ChangeMembers(KEY, 11, "d:7400", true),
            new LockMessage.ChangeMembers(KEY, 11, "", false),
            new LockMessage.Members(KEY, 11, List.of("b:7400", "a:7400"), true, "the only member cannot be removed"),
            new LockMessage.Break(KEY, 10, TOKEN, "stuck since noon"),
            new LockMessage.Answer(KEY, 10, true),
            new LockMessage.Blocked(KEY, 3, true, "b:7400 does not answer"),
            new LockMessage.Seek(KEY, 3, PROBE),
            new LockMessage.Sought(KEY, 4_294_967_303L, 0, PROBE.on(Probe.Kind.ABORTED, 0)),
            new LockMessage.Sought(KEY, 0, 3, PROBE));

    private final LockCodec codec = new LockCodec(LeaseKeys.ALGORITHM);

    private byte[] write(Message message) {
        WireWriter buffer = new WireWriter(64 * 1024);
        codec.write(message, buffer);
        return buffer.toBytes();
    }

    @Test
    void everyMessageComesBack() throws WireException {
        for (Message message : ALL) {
            WireReader in = new WireReader(write(message));
            assertThat(codec.read(codec.type(message), codec.view(message), in)).isEqualTo(message);
            assertThat(in.remaining()).isZero();
        }
    }

    private static Stream<Class<?>> kinds(Class<?> of) {
        return of.isSealed() ? Stream.of(of.getPermittedSubclasses()).flatMap(LockCodecTest::kinds) : Stream.of(of);
    }

    @Test
    void everyKindOfMessageIsTried() {
        assertThat(ALL.stream().map(Object::getClass).collect(Collectors.toSet()))
                .isEqualTo(kinds(LockMessage.class).collect(Collectors.toSet()));
        assertThat(ALL.stream().map(codec::type).collect(Collectors.toSet())).hasSize(32);
    }

    @Test
    void theBytesStay() {
        HexFormat hex = HexFormat.of();
        Owner owner = new Owner("c", Map.of("k", "v"));
        Key key = LeaseKeys.lock("a");
        assertThat(hex.formatHex(write(new LockMessage.Acquire(
                        key, 1, LockMode.EXCLUSIVE, 1, 1, 128, false, true, true, 0, 2, owner))))
                .isEqualTo("0161" + "01" + "00" + "010101" + "8001" + "000101" + "0002" + "0000" + "00" + "0163"
                        + "01016b0176");
        assertThat(hex.formatHex(write(new LockMessage.Granted(key, 1, Tokens.of(7, 3), Tokens.of(7, 5), true))))
                .isEqualTo("0161" + "01" + "03" + "02" + "01" + "00");
        assertThat(hex.formatHex(write(new LockMessage.Release(key, Tokens.of(7, 3), Tokens.of(7, 4)))))
                .isEqualTo("0161" + "03" + "02");
        assertThat(hex.formatHex(write(new LockMessage.Revoke(key, Tokens.of(7, 3), LeaseLoss.Cause.BROKEN, "x"))))
                .isEqualTo("0161" + "03" + "01" + "0178");
        assertThat(codec.view(new LockMessage.Denied(key, Tokens.of(7, 3)))).isEqualTo(7);
        assertThat(codec.type(new LockMessage.Granted(key, 1, 1, 1, true))).isEqualTo(9);
    }

    @Test
    void brokenBytesAreRefusedAndNothingElseHappens() {
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 40_000; i++) {
            Message message = ALL.get(random.nextInt(ALL.size()));
            byte[] bytes = write(message);
            int cut = random.nextInt(3) == 0 ? random.nextInt(bytes.length) : bytes.length;
            bytes = Arrays.copyOf(bytes, cut);
            for (int hits = random.nextInt(4); hits > 0 && bytes.length > 0; hits--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            int type = random.nextInt(10) == 0 ? random.nextInt(256) : codec.type(message);
            long view = random.nextInt(10) == 0 ? random.nextLong() : codec.view(message);
            try {
                Message read = codec.read(type, view, new WireReader(bytes));
                assertThat(read.key().algorithm()).isEqualTo(LeaseKeys.ALGORITHM);
                assertThat(codec.type(read)).isEqualTo(type);
            } catch (WireException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(10_000);
    }

    @Test
    void aMessageOfAnotherAlgorithmIsNotWritten() {
        Message foreign = () -> new Key(9, "x");
        assertThatThrownBy(() -> codec.type(foreign)).isInstanceOf(IllegalArgumentException.class);
    }
}
