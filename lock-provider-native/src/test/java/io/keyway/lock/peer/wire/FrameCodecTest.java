// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.Bye;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Data;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameCodecTest {
    private final FrameCodec codec = new FrameCodec(new Sample.Codec());

    private byte[] bytes(SessionFrame frame) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        codec.encode(frame, buffer -> {
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            out.writeBytes(part);
        });
        return out.toByteArray();
    }

    private FrameReader reader() {
        FrameReader reader = new FrameReader(codec);
        reader.open();
        return reader;
    }

    private List<SessionFrame> read(byte[] bytes) throws WireException {
        List<SessionFrame> frames = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(bytes);
        FrameReader reader = reader();
        for (SessionFrame next = reader.next(in); next != null; next = reader.next(in)) {
            frames.add(next);
        }
        assertThat(in.remaining()).isZero();
        return frames;
    }

    @Test
    void framesComeBackAsTheyWere() throws WireException {
        RandomFrames frames = new RandomFrames(1);
        for (int i = 0; i < 5_000; i++) {
            SessionFrame frame = frames.next();
            assertThat(read(bytes(frame))).containsExactly(frame);
        }
    }

    /** Of a socket that is read into memory outside of the heap, say, or into the middle of an array. */
    @Test
    void framesAreReadFromBuffersOfAnyKind() throws WireException {
        RandomFrames frames = new RandomFrames(6);
        FrameReader reader = reader();
        for (int i = 0; i < 500; i++) {
            SessionFrame frame = frames.next();
            byte[] bytes = bytes(frame);
            byte[] around = new byte[bytes.length + 20];
            Arrays.fill(around, (byte) -1);
            System.arraycopy(bytes, 0, around, 10, bytes.length);
            ByteBuffer whole = ByteBuffer.wrap(around);
            List<ByteBuffer> kinds = List.of(
                    whole.duplicate().position(10).limit(10 + bytes.length),
                    whole.slice(10, bytes.length),
                    whole.slice(10, bytes.length).asReadOnlyBuffer(),
                    ByteBuffer.allocateDirect(around.length)
                            .put(around)
                            .position(10)
                            .limit(10 + bytes.length));
            for (ByteBuffer in : kinds) {
                assertThat(reader.next(in)).isEqualTo(frame);
                assertThat(in.remaining()).isZero();
            }
            ByteBuffer cut = whole.duplicate().position(10).limit(9 + bytes.length);
            assertThat(reader.next(cut.putInt(10, bytes.length - 4))).isNull();
            cut.putInt(10, bytes.length - 5);
            assertThatThrownBy(() -> reader.next(cut)).isInstanceOf(WireException.class);
        }
    }

    @Test
    void aFrameThatIsNotWholeConsumesNothing() throws WireException {
        RandomFrames frames = new RandomFrames(2);
        for (int i = 0; i < 60; i++) {
            byte[] bytes = bytes(frames.next());
            for (int length = 0; length < bytes.length; length++) {
                ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
                assertThat(reader().next(in)).isNull();
                assertThat(in.position()).isZero();
            }
        }
    }

    @Test
    void aFrameThatIsCutShortIsRefusedAtEveryByte() {
        RandomFrames frames = new RandomFrames(3);
        for (int i = 0; i < 60; i++) {
            byte[] bytes = bytes(frames.next());
            for (int length = 4; length < bytes.length; length++) {
                ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
                in.putInt(0, length - 4);
                assertThatThrownBy(() -> reader().next(in)).isInstanceOf(WireException.class);
            }
        }
    }

    @Test
    void mutationsAreReadOrRefusedButNothingElse() {
        RandomFrames frames = new RandomFrames(4);
        Random random = new Random(4);
        int refused = 0;
        int longest = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = mutated(bytes(frames.next()), random);
            ByteBuffer in = ByteBuffer.wrap(bytes);
            try {
                FrameReader reader = random.nextBoolean() ? reader() : new FrameReader(codec);
                if (reader.next(in) == null && in.position() != 0) {
                    throw new AssertionError("mutation " + i + " consumed half a frame");
                }
            } catch (WireException e) {
                refused++;
                longest = Math.max(longest, e.getMessage().length());
            }
        }
        assertThat(refused).as("mutations that matter").isGreaterThan(50_000);
        assertThat(longest).as("the longest reason").isLessThanOrEqualTo(80);
    }

    private static byte[] mutated(byte[] bytes, Random random) {
        byte[] mutated = bytes.clone();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            int at = random.nextInt(mutated.length);
            switch (random.nextInt(4)) {
                case 0 -> mutated[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> mutated[at] = (byte) random.nextInt(256);
                case 2 -> mutated[at] = (byte) 0xFF;
                default -> {
                    int from = random.nextInt(mutated.length);
                    int length = Math.min(random.nextInt(8), mutated.length - Math.max(at, from));
                    System.arraycopy(mutated, from, mutated, at, length);
                }
            }
        }
        return mutated;
    }

    @Test
    void aLengthOverTheLimitIsRefusedBeforeAnythingElseComes() {
        ByteBuffer twoGigabytes = ByteBuffer.allocate(4).putInt(0x7FFF_FFFF).flip();
        assertThatThrownBy(() -> reader().next(twoGigabytes)).hasMessage("a frame of 2147483647 bytes; at most 65532");
        ByteBuffer negative = ByteBuffer.allocate(4).putInt(-1).flip();
        assertThatThrownBy(() -> reader().next(negative)).hasMessage("a frame of 4294967295 bytes; at most 65532");
        ByteBuffer early = ByteBuffer.allocate(4).putInt(1533).flip();
        assertThatThrownBy(() -> new FrameReader(codec).next(early)).hasMessage("a frame of 1533 bytes; at most 1532");
    }

    @Test
    void noDataBeforeTheWelcome() {
        byte[] bytes = bytes(new RandomFrames(5).data(true));
        assertThatThrownBy(() -> new FrameReader(codec).next(ByteBuffer.wrap(bytes)))
                .isInstanceOf(WireException.class)
                .hasMessage("data before the welcome");
    }

    @Test
    void whatIsUnknownIsNamed() {
        Data data = new Data(1, 1, 0, false, 0, 0, List.of(sample("a", Map.of())));
        assertThatThrownBy(() -> read(changed(data, 4, 3))).hasMessage("wire version 3; this end speaks 1");
        assertThatThrownBy(() -> read(changed(data, 5, 99))).hasMessage("frame kind 99 is unknown");
        assertThatThrownBy(() -> read(changed(data, 11, 77))).hasMessage("algorithm 77 is unknown");
        assertThatThrownBy(() -> read(changed(data, 12, 78))).hasMessage("message type 78 of algorithm 9 is unknown");
        Data bye = new Data(1, 1, 0, false, 0, 0, List.of(new Bye()));
        assertThatThrownBy(() -> read(changed(bye, 12, 5))).hasMessage("message type 5 of algorithm 0 is unknown");
    }

    private byte[] changed(SessionFrame frame, int at, int to) {
        byte[] bytes = bytes(frame);
        bytes[at] = (byte) to;
        return bytes;
    }

    @Test
    void countsOfWhatCannotBeThereAreRefused() {
        byte[] bytes = bytes(new Data(1, 1, 0, false, 0, 0, List.of()));
        byte[] bomb = new byte[bytes.length + 1];
        System.arraycopy(bytes, 0, bomb, 0, bytes.length);
        bomb[3]++;
        bomb[bytes.length - 1] = (byte) 0x80;
        bomb[bytes.length] = 8;
        assertThatThrownBy(() -> read(bomb)).hasMessage("1024 elements in 0 bytes");
    }

    @Test
    void aLongBatchIsSplitAndOnlyItsEndIsStamped() throws WireException {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            messages.add(sample("x".repeat(i % 500), Map.of("k", "v")));
        }
        List<SessionFrame> parts = read(bytes(new Data(4, 10, 2, true, 77, 0, messages)));
        assertThat(parts).hasSizeGreaterThan(10);
        List<Message> together = new ArrayList<>();
        for (SessionFrame part : parts) {
            Data data = (Data) part;
            assertThat(data.seq()).isEqualTo(10 + together.size());
            together.addAll(data.messages());
            assertThat(data.stamped()).isEqualTo(together.size() == messages.size());
        }
        assertThat(together).isEqualTo(messages);
    }

    @Test
    void aMessageThatFitsNoFrameIsRefusedWhereItIsSent() {
        Data data = new Data(1, 1, 0, true, 1, 0, List.of(sample("x".repeat(70_000), Map.of())));
        assertThatThrownBy(() -> bytes(data)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void metadataIsBounded() {
        Data data = new Data(1, 1, 0, true, 1, 0, List.of(sample("a", Map.of("k", "v".repeat(1024)))));
        assertThatThrownBy(() -> read(bytes(data))).hasMessage("metadata of 1025 bytes; at most 1024");
    }

    @Test
    void allMetadataThatTheApiTakesGoesThrough() throws Exception {
        Map<String, String> one = Map.of("k", "v".repeat(1023));
        Map<String, String> many = new LinkedHashMap<>();
        for (int i = 0; i < 300; i++) {
            many.put(Integer.toString(i, 36) + "x", "");
        }
        for (Map<String, String> metadata : List.of(one, many)) {
            Data data = new Data(1, 1, 0, true, 1, 0, List.of(sample("a", metadata)));
            assertThat(read(bytes(data))).containsExactly(data);
        }
    }

    private static Sample sample(String id, Map<String, String> metadata) {
        return new Sample(new Key(Sample.ALGORITHM, id), 3, -1, 4, true, metadata);
    }
}
