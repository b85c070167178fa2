// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ElectionCodecTest {
    private static final ViewId ID = new ViewId(7, "b:1", 300);
    private static final List<String> MEMBERS = List.of("c:1", "a:1", "b:1");
    private static final View VIEW = new View(
            ID, List.of(new View.Seat("a:1", new ViewId(2, "a:1", 5)), new View.Seat("b:1", ID)), true, MEMBERS);
    private static final List<List<String>> LISTS = List.of(MEMBERS, List.of("a:1"));
    private static final Identifier IDENTIFIER = new Identifier(15, (1 << 28) - 1, "c:1");
    private static final List<Message> ALL = List.of(
            new ElectionMessage.ElectionDate(ElectionWorld.KEY, ID, 5, IDENTIFIER, ViewId.NONE, ID, true, MEMBERS),
            new ElectionMessage.Vote(ElectionWorld.KEY, ID, IDENTIFIER, VIEW, 1L << 50, 1L << 30, LISTS),
            new ElectionMessage.Desist(ElectionWorld.KEY, ID, ViewId.NONE),
            new ElectionMessage.Retire(ElectionWorld.KEY, ID),
            new ElectionMessage.Rerun(ElectionWorld.KEY, ID),
            new ElectionMessage.Leaders(ElectionWorld.KEY, VIEW, 9, 8, true),
            new ElectionMessage.Confirm(ElectionWorld.KEY, ID, -5, 9),
            new ElectionMessage.Confirmed(ElectionWorld.KEY, ID, Long.MIN_VALUE, 0),
            new ElectionMessage.Remind(ElectionWorld.KEY),
            new ElectionMessage.Promised(ElectionWorld.KEY, ID, View.NONE, 0, true, LISTS),
            new ElectionMessage.Introduce(ElectionWorld.KEY, "d:1"));

    private final ElectionCodec codec = new ElectionCodec(ElectionWorld.KEY);

    private byte[] write(Message message) {
        WireWriter buffer = new WireWriter(1_000);
        codec.write(message, buffer);
        return buffer.toBytes();
    }

    @Test
    void everyMessageComesBackAndEveryKindIsTried() throws WireException {
        for (Message message : ALL) {
            WireReader in = new WireReader(write(message));
            assertThat(codec.read(codec.type(message), in)).isEqualTo(message);
            assertThat(in.remaining()).isZero();
        }
        assertThat(ALL.stream().map(Object::getClass).collect(Collectors.toSet()))
                .isEqualTo(Arrays.stream(ElectionMessage.class.getPermittedSubclasses())
                        .filter(Message.class::isAssignableFrom)
                        .collect(Collectors.toSet()));
    }

    @Test
    void theBytesStay() {
        HexFormat hex = HexFormat.of();
        assertThat(hex.formatHex(write(new ElectionMessage.Retire(ElectionWorld.KEY, ID))))
                .isEqualTo("07" + "03623a31" + "ac02");
        assertThat(hex.formatHex(write(new ElectionMessage.Confirm(ElectionWorld.KEY, ID, 1, 9))))
                .isEqualTo("07" + "03623a31" + "ac02" + "0000000000000001" + "09");
        assertThat(ALL.stream().map(codec::type))
                .containsExactly(192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202);
    }

    @Test
    void theRecordComesBack() throws WireException {
        DurableRecord record = new ElectionMessage.Ballot(ElectionWorld.KEY, ID, VIEW, 1L << 40, LISTS);
        WireWriter buffer = new WireWriter(200);
        codec.write(record, buffer);
        assertThat(codec.record(new WireReader(buffer.toBytes()))).isEqualTo(record);
        assertThat(ElectionCodec.writes(record)).isTrue();
    }

    /** Of a version in which the list of the members did not change. */
    @Test
    void aRecordWithoutListsIsRead() throws WireException {
        byte[] old =
                HexFormat.of().parseHex("07" + "03623a31" + "ac02" + "07" + "03623a31" + "ac02" + "01" + "00" + "05");

        assertThat(codec.record(new WireReader(old)))
                .isEqualTo(new ElectionMessage.Ballot(
                        ElectionWorld.KEY, ID, new View(ID, List.of(), true, List.of()), 5, List.of()));
    }

    /** Of a version in which members had no numbers of their own: they count from 1. */
    @Test
    void aRecordWithoutNumbersIsRead() throws WireException {
        String list = "02" + "03613a31" + "03623a31";
        byte[] old = HexFormat.of()
                .parseHex("07" + "03623a31" + "ac02" + "07" + "03623a31" + "ac02" + "02" + "00" + list + "05");
        DurableRecord record = codec.record(new WireReader(old));

        View view = ((ElectionMessage.Ballot) record).adopted();
        assertThat(view.members()).containsExactly("a:1", "b:1");
        assertThat(view.numbers()).isEqualTo(new MemberNumbers(List.of(1, 2), 2));
    }

    @Test
    void twoMembersOfOneNumberAreRefused() throws WireException {
        Message leaders = new ElectionMessage.Leaders(ElectionWorld.KEY, VIEW, 9, 8, true);
        byte[] bytes = write(leaders);
        assertThat(bytes)
                .endsWith(3, 1, 2, 3, 9, 8, 1); // the last number, all numbers, what is recorded, left, and over
        bytes[bytes.length - 4] = 1;
        assertThatThrownBy(() -> codec.read(codec.type(leaders), new WireReader(bytes)))
                .isInstanceOf(WireException.class)
                .hasMessageContaining("numbers of members");
    }

    /** Scenario 17 of the source. */
    @Test
    void s17_anIdentifierThatIsNoneIsRefused() throws WireException {
        Identifier good = new Identifier(Identifier.OFF, (1 << Identifier.RANDOM_BITS) - 1, "b:1");
        assertThat(read(vote(good))).isInstanceOf(ElectionMessage.Vote.class);
        List<Identifier> none = List.of(
                new Identifier(16, 1, "b:1"),
                new Identifier(255, 1, "b:1"),
                new Identifier(1, 1 << Identifier.RANDOM_BITS, "b:1"),
                new Identifier(1, Integer.MAX_VALUE, "b:1"),
                new Identifier(1, 1, "b".repeat(301)));
        for (Identifier bad : none) {
            assertThatThrownBy(() -> read(vote(bad))).as("%s", bad).isInstanceOf(WireException.class);
        }
        for (int priority : new int[] {0, -1, 16}) {
            assertThatThrownBy(() -> ElectionWorld.settings(priority))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("priority: " + priority + " is not within 1 to 15");
        }
    }

    private static Message vote(Identifier by) {
        return new ElectionMessage.Vote(ElectionWorld.KEY, ID, by, View.NONE, 0, 0, List.of());
    }

    private Message read(Message message) throws WireException {
        return codec.read(codec.type(message), new WireReader(write(message)));
    }

    @Test
    void brokenBytesAreRefusedAndNothingElseHappens() {
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            Message message = ALL.get(random.nextInt(ALL.size()));
            byte[] bytes = write(message);
            bytes = Arrays.copyOf(bytes, random.nextInt(3) == 0 ? random.nextInt(bytes.length + 1) : bytes.length);
            for (int hits = random.nextInt(4); hits > 0 && bytes.length > 0; hits--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(codec.type(codec.read(codec.type(message), new WireReader(bytes))))
                        .isEqualTo(codec.type(message));
            } catch (WireException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(3_000);
        assertThatThrownBy(() -> codec.read(250, new WireReader(new byte[] {1})))
                .isInstanceOf(WireException.class);
    }
}
