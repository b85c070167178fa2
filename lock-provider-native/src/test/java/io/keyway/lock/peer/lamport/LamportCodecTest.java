// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.spi.Owner;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LamportCodecTest {
    private static final Owner OWNER = new Owner("billing-7", Map.of("pid", "17"));
    private static final long STAMP = 300;
    private static final List<Message> ALL = List.of(
            new LamportMessage.Begin(STAMP),
            new LamportMessage.End(STAMP),
            new LamportMessage.Request(STAMP, "jobs/n\u00e4me", OWNER, 5),
            new LamportMessage.Ack(Ticket.MAX_STAMP),
            new LamportMessage.Release(STAMP, "a", STAMP - 1),
            new LamportMessage.Break(STAMP, 4, "a", STAMP - 1, "stuck since noon"),
            new LamportMessage.Broken(STAMP, 4, true));

    private final LamportCodec codec = new LamportCodec();

    private byte[] write(Message message) {
        WireWriter buffer = new WireWriter(4096);
        codec.write(message, buffer);
        return buffer.toBytes();
    }

    @Test
    void everyMessageComesBackAndEveryKindIsTried() throws WireException {
        for (Message message : ALL) {
            WireReader in = new WireReader(write(message));
            assertThat(codec.read(codec.type(message), codec.view(message), in)).isEqualTo(message);
            assertThat(in.remaining()).isZero();
        }
        Set<Class<?>> kinds = Set.of(LamportMessage.class.getPermittedSubclasses());
        assertThat(ALL.stream().map(Object::getClass).collect(Collectors.<Class<?>>toSet()))
                .isEqualTo(
                        kinds.stream().filter(Message.class::isAssignableFrom).collect(Collectors.toSet()));
        assertThat(ALL.stream().map(codec::type).collect(Collectors.toSet())).hasSameSizeAs(ALL);
    }

    @Test
    void aMessageOfALockServiceKeepsItsBytes() throws WireException {
        long token = new Ticket(1 << 24, 1).token();
        Message granted = new LockMessage.Granted(LamportKeys.lock("a"), 1, token, token, true);
        WireReader in = new WireReader(write(granted));
        assertThat(codec.read(codec.type(granted), codec.view(granted), in)).isEqualTo(granted);
    }

    @Test
    void theBytesStay() {
        HexFormat hex = HexFormat.of();
        assertThat(hex.formatHex(write(new LamportMessage.Ack(300)))).isEqualTo("ac02");
        assertThat(hex.formatHex(write(new LamportMessage.Release(300, "a", 299))))
                .isEqualTo("ac02" + "0161" + "ab02");
        assertThat(hex.formatHex(write(new LamportMessage.Request(300, "a", new Owner("c", Map.of("k", "v")), 5))))
                .isEqualTo("ac02" + "0161" + "05" + "0163" + "01016b0176");
        assertThat(ALL.stream().map(codec::type)).containsExactly(128, 129, 130, 131, 132, 133, 134);
    }

    @Test
    void theRecordComesBack() throws WireException {
        RecordCodec records = new LamportCodec.Records();
        DurableRecord record = new LamportMessage.Reserved(1 << 20);
        WireWriter buffer = new WireWriter(20);
        records.write(record, buffer);
        byte[] bytes = buffer.toBytes();
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("808040");
        assertThat(records.read(new WireReader(bytes))).isEqualTo(record);
        assertThat(records.key(record)).isEqualTo(LamportKeys.PROCESS);
    }

    @Test
    void brokenBytesAreRefusedAndNothingElseHappens() {
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            Message message = ALL.get(random.nextInt(ALL.size()));
            byte[] bytes = write(message);
            bytes = Arrays.copyOf(bytes, random.nextInt(3) == 0 ? random.nextInt(bytes.length) : bytes.length);
            for (int hits = random.nextInt(4); hits > 0 && bytes.length > 0; hits--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            int type = random.nextInt(10) == 0 ? random.nextInt(256) : codec.type(message);
            try {
                Message read = codec.read(type, 0, new WireReader(bytes));
                assertThat(codec.type(read)).isEqualTo(type);
            } catch (WireException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(3_000);
    }

    @Test
    void anUnknownTypeIsRefused() {
        assertThatThrownBy(() -> codec.read(200, 0, new WireReader(new byte[] {1})))
                .isInstanceOf(WireException.class);
    }

    @Test
    void tokensRiseWithTheOrderAndTheirLowBitsAreNeverZero() {
        assertThat(new Ticket(5, 2).token()).isLessThan(new Ticket(5, 3).token());
        assertThat(new Ticket(5, Membership.MAX_MEMBERS).token()).isLessThan(new Ticket(6, 1).token());
        assertThat(Ticket.of(new Ticket(77, 3).token())).isEqualTo(new Ticket(77, 3));
        assertThat(Ticket.of(new Ticket(Ticket.MAX_STAMP, 64).token())).isEqualTo(new Ticket(Ticket.MAX_STAMP, 64));
        assertThat(new Ticket(Ticket.MAX_STAMP, Membership.MAX_MEMBERS).token()).isPositive();
        assertThat(Tokens.counter(new Ticket(1L << 40, 1).token())).isEqualTo(1);
    }

    @Test
    void aClockThatBeginsWithAnEpochMakesTokensAboveAllOfLowerEpochs() {
        long token = new Ticket(Ticket.ofEpoch(9), 1).token();
        assertThat(token).isGreaterThan(Tokens.of(8, Tokens.MAX_COUNTER)).isGreaterThan(Tokens.of(9, 0));
        assertThat(Ticket.ofEpoch(Membership.LARGEST_EPOCH)).isLessThanOrEqualTo(Ticket.MAX_STAMP);
    }
}
