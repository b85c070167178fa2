// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.session.Bye;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The bytes of each frame kind, as released: a process of any version must read them. {@code -Dgolden.write=true}
 * writes the file anew; a change of it is a change of the wire.
 */
class GoldenFramesTest {
    private static final Path FILE = Path.of("src/test/resources/io/keyway/lock/peer/wire/frames.golden");
    private static final Incarnation CLIENT = new Incarnation(0x0102030405060708L, 0x090A0B0C0D0E0F10L);
    private static final Incarnation MEMBER = new Incarnation(0x1112131415161718L, 0x191A1B1C1D1E1F20L);
    private static final Nonce NONCE = new Nonce(0x2122232425262728L, 0x292A2B2C2D2E2F30L);

    private static Map<String, SessionFrame> frames() {
        Map<String, SessionFrame> frames = new LinkedHashMap<>();
        frames.put(
                "hello",
                new Hello(1, 1, "orders", 5, 0, 1, Role.CLIENT, "", "", 0, CLIENT, NONCE, 1, 0, 0, List.of(), null));
        frames.put(
                "hello-resume",
                new Hello(
                        1,
                        2,
                        "orders",
                        5,
                        -6,
                        1,
                        Role.MEMBER,
                        "a:7400",
                        "b:7400",
                        3,
                        CLIENT,
                        NONCE,
                        300,
                        77,
                        0,
                        479_176_930_258_537_695L,
                        List.of(new Seen("a:7400", 217_000_000, MEMBER)),
                        new Resume(MEMBER, 4, 1000)));
        frames.put("challenge", new Challenge(1, MEMBER, NONCE, new Mac(new byte[] {1, 2, 3, 4})));
        frames.put("proof", new Proof(new Mac(new byte[] {9, 8, 7, 6})));
        frames.put(
                "welcome",
                new Welcome(
                        4,
                        1000,
                        "a:7400",
                        217_000_001,
                        217_000_003,
                        10_000_000_000L,
                        List.of("a:7400", "b:7400"),
                        4,
                        true,
                        60_000_000_000L));
        frames.put("refuse", new Refuse(RefuseCode.SETTINGS, "settings", "5", "7"));
        frames.put("refuse-bare", new Refuse(RefuseCode.NOT_AUTHENTICATED, "", "", ""));
        frames.put("wait", new Wait(1_500_000_000L));
        frames.put("ask-trace", new AskTrace(7, AskTrace.START, 300));
        frames.put("trace-page", new TracePage(7, true, 400, true, "300\t1700000000000000000\there\ta/é\tasks\n"));
        frames.put("keep", new Data(4, 17, 20, true, 123_456_789_012L, 0, List.of()));
        frames.put("ack", new Data(4, 17, 20, false, 0, 0, List.of()));
        frames.put("goodbye", new Data(4, 18, 20, true, -1, 0, List.of(new Bye())));
        Sample sample =
                new Sample(new Key(Sample.ALGORITHM, "a/é"), 217_000_001, -2, 7, true, Map.of("client", "billing-7"));
        frames.put("bodies", new Data(4, 18, 20, true, 5, 0, List.of(sample, new Bye())));
        return frames;
    }

    @Test
    void everyFrameKindHasItsReleasedBytes() throws IOException, WireException {
        FrameCodec codec = new FrameCodec(new Sample.Codec());
        StringBuilder lines = new StringBuilder();
        frames().forEach((name, frame) -> codec.encode(frame, buffer -> {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            lines.append(name)
                    .append(' ')
                    .append(HexFormat.of().formatHex(bytes))
                    .append('\n');
        }));
        if (Boolean.getBoolean("golden.write")) {
            Files.createDirectories(FILE.getParent());
            Files.writeString(FILE, lines);
        }
        assertThat(lines.toString()).isEqualTo(Files.readString(FILE));

        Map<String, SessionFrame> expected = frames();
        for (String line : Files.readAllLines(FILE)) {
            String[] parts = line.split(" ", 2);
            FrameReader reader = new FrameReader(codec);
            reader.open();
            assertThat(reader.next(ByteBuffer.wrap(HexFormat.of().parseHex(parts[1]))))
                    .as(parts[0])
                    .isEqualTo(expected.remove(parts[0]));
        }
        assertThat(expected).isEmpty();
    }
}
