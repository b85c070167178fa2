// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BakeryCodecTest {
    private static final Owner OWNER = new Owner("billing-7", Map.of("pid", "17"));
    private static final Participant HOLDER = new Participant(OWNER, LockMode.EXCLUSIVE, 1, 77, 5);
    private static final Participant READER = new Participant(OWNER, LockMode.SHARED, 1, 78, 5);
    private static final List<Message> ALL = List.of(
            new BakeryMessage.Begin(Long.MAX_VALUE >> 1, 3, new ViewId(2, "a:1", 9)),
            new BakeryMessage.End(3),
            new BakeryMessage.Entering("jobs/n\u00e4me", 300, new RequestMode(LockMode.EXCLUSIVE, 0), OWNER, 5),
            new BakeryMessage.AddTicket("a", 300, RequestMode.READER, Ticket.MAX_STAMP, 127, true, false, OWNER, 5),
            new BakeryMessage.DropTicket("a", 300, 5),
            new BakeryMessage.Relinquished("a", 300),
            new BakeryMessage.Stands("a", 300),
            new BakeryMessage.Entered(3, 300, 7),
            new BakeryMessage.TicketAdded(3, 300, 2, READER),
            new BakeryMessage.Activated(3, 300),
            new BakeryMessage.Refused(3, 300),
            new BakeryMessage.Yield(3, 300),
            new BakeryMessage.Question(3, 300),
            new BakeryMessage.Break(4, "a", 77, "stuck since noon"),
            new BakeryMessage.Broken(4, true),
            new BakeryMessage.Leading(new ViewId(2, "a:1", 9), 77),
            new BakeryMessage.Look(4, "a"),
            new BakeryMessage.Seen(4, List.of(HOLDER), List.of(HOLDER, READER), List.of(HOLDER), 2, true));

    private final BakeryCodec codec = new BakeryCodec();

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
        assertThat(ALL.stream().map(Object::getClass).collect(Collectors.<Class<?>>toSet()))
                .isEqualTo(kinds(BakeryMessage.class).collect(Collectors.toSet()));
        assertThat(ALL.stream().map(codec::type).collect(Collectors.toSet())).hasSameSizeAs(ALL);
    }

    @Test
    void s18_aTicketComesBackFromItsTokenAndFromTheWire() throws WireException {
        Random random = new Random(18);
        for (int i = 0; i < 1_000; i++) {
            long stamp = 1 + (random.nextLong() >>> 8) % (1L << random.nextInt(57));
            Ticket ticket = new Ticket(stamp, 1 + random.nextInt(Ticket.MAX_PROCESS));
            assertThat(Ticket.of(ticket.token())).isEqualTo(ticket);
            assertThat(ticket.token()).isPositive();
            BakeryMessage.AddTicket add =
                    new BakeryMessage.AddTicket("a", i, RequestMode.WRITER, stamp, 1, false, true, OWNER, i);
            WireReader in = new WireReader(write(add));
            assertThat(codec.read(codec.type(add), 0, in)).isEqualTo(add);
            Ticket other = new Ticket(Math.max(1, stamp - random.nextInt(2)), ticket.process());
            assertThat(Long.compare(ticket.token(), other.token())).isEqualTo(ticket.compareTo(other));
        }
    }

    @Test
    void aMessageOfALockServiceKeepsItsBytes() throws WireException {
        long token = new Ticket(1 << 24, 1).token();
        Message granted = new LockMessage.Granted(BakeryKeys.lock("a"), 1, token, token, true);
        WireReader in = new WireReader(write(granted));
        assertThat(codec.read(codec.type(granted), codec.view(granted), in)).isEqualTo(granted);
    }

    @Test
    void theBytesStay() {
        HexFormat hex = HexFormat.of();
        assertThat(hex.formatHex(write(new BakeryMessage.Activated(3, 300)))).isEqualTo("03ac02");
        assertThat(hex.formatHex(write(new BakeryMessage.DropTicket("a", 300, 5))))
                .isEqualTo("0161" + "ac02" + "06");
        for (RequestMode mode :
                List.of(RequestMode.WRITER, RequestMode.READER, new RequestMode(LockMode.EXCLUSIVE, 7))) {
            String as = mode.isSoft() ? "09" : mode.isReader() ? "01" : "00";
            Owner owner = new Owner("c", Map.of("k", "v"));
            assertThat(hex.formatHex(write(new BakeryMessage.Entering("a", 300, mode, owner, 5))))
                    .isEqualTo("0161" + "ac02" + as + "05" + "0163" + "01016b0176");
        }
        assertThat(ALL.stream().map(codec::type))
                .containsExactly(
                        128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145);
    }

    /** The records among a sealed type and those below it. */
    private static Stream<Class<?>> kinds(Class<?> sealed) {
        Class<?>[] below = sealed.getPermittedSubclasses();
        return below == null
                ? Message.class.isAssignableFrom(sealed) ? Stream.of(sealed) : Stream.of()
                : Stream.of(below).flatMap(BakeryCodecTest::kinds);
    }

    @Test
    void theRecordComesBack() throws WireException {
        RecordCodec records = new BakeryCodec.Records();
        DurableRecord record = new BakeryMessage.Reserved(1 << 20, new ViewId(7, "b", 3));
        WireWriter buffer = new WireWriter(20);
        records.write(record, buffer);
        byte[] bytes = buffer.toBytes();
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("80804007016203");
        assertThat(records.read(new WireReader(bytes))).isEqualTo(record);
        assertThat(records.key(record)).isEqualTo(BakeryKeys.LEADER);
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
        assertThatThrownBy(() -> codec.read(250, 0, new WireReader(new byte[] {1})))
                .isInstanceOf(WireException.class);
    }
}
