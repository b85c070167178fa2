// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Frames of every kind from a seed. */
final class RandomFrames {
    private static final List<RefuseCode> REFUSALS = List.of(RefuseCode.values());

    private final Random random;

    RandomFrames(long seed) {
        random = new Random(seed);
    }

    SessionFrame next() {
        return switch (random.nextInt(10)) {
            case 0 -> hello();
            case 1 -> new Challenge(random.nextInt(256), incarnation(), nonce(), mac());
            case 2 -> new Proof(mac());
            case 3 ->
                new Welcome(
                        number(),
                        number(),
                        text(40),
                        number(),
                        number(),
                        number(),
                        members(),
                        random.nextInt(256),
                        random.nextBoolean(),
                        number() & 0xFFFF_FFFFL);
            case 4 -> new Refuse(REFUSALS.get(random.nextInt(REFUSALS.size())), text(20), text(20), text(20));
            case 5 -> data(true);
            case 6 -> new AskTrace(number(), random.nextInt(256), number());
            case 7 -> new TracePage(number(), random.nextBoolean(), number(), random.nextBoolean(), text(200));
            case 8 -> new Wait(number());
            default -> data(false);
        };
    }

    private List<String> members() {
        List<String> members = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            members.add(text(20));
        }
        return List.copyOf(members);
    }

    private Hello hello() {
        List<Seen> seen = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            seen.add(new Seen(text(40), number(), incarnation()));
        }
        return new Hello(
                random.nextInt(256),
                random.nextInt(256),
                text(30),
                random.nextLong(),
                random.nextLong(),
                random.nextInt(256),
                random.nextBoolean() ? Role.CLIENT : Role.MEMBER,
                text(40),
                text(40),
                random.nextInt(256),
                incarnation(),
                nonce(),
                number(),
                number(),
                number(),
                number(),
                seen,
                random.nextBoolean() ? null : new Resume(incarnation(), number(), number()));
    }

    Data data(boolean stamped) {
        List<Message> messages = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            messages.add(random.nextInt(8) == 0 ? new Bye() : sample());
        }
        return new Data(number(), number() >>> 1, number(), stamped, stamped ? any() : 0, any(), List.copyOf(messages));
    }

    private Sample sample() {
        Map<String, String> metadata = new LinkedHashMap<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            metadata.put(text(20) + i, text(20));
        }
        return new Sample(new Key(Sample.ALGORITHM, text(60)), any(), any(), number(), random.nextBoolean(), metadata);
    }

    private long any() {
        return random.nextLong() >> random.nextInt(64);
    }

    private long number() {
        return random.nextLong() >>> (1 + random.nextInt(63));
    }

    private Incarnation incarnation() {
        return new Incarnation(random.nextLong(), random.nextLong());
    }

    private Nonce nonce() {
        return new Nonce(random.nextLong(), random.nextLong());
    }

    private Mac mac() {
        byte[] bytes = new byte[random.nextInt(Mac.MAX_BYTES + 1)];
        random.nextBytes(bytes);
        return new Mac(bytes);
    }

    /** Well-formed text of one to three bytes a character. */
    private String text(int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(most / 3); i > 0; i--) {
            text.append(
                    switch (random.nextInt(3)) {
                        case 0 -> (char) ('a' + random.nextInt(26));
                        case 1 -> (char) (0x100 + random.nextInt(0x500));
                        default -> (char) (0x3000 + random.nextInt(0x5000));
                    });
        }
        return text.toString();
    }
}
