// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.group.ElectionGroup;
import io.keyway.lock.group.GroupMember;
import io.keyway.lock.group.GroupOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Two processes of an election that talk with each other, over whatever store. */
public final class GroupTrial {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private GroupTrial() {}

    private static final class Member implements GroupMember {
        private final String name;
        private final CompletableFuture<String> elected = new CompletableFuture<>();

        Member(String name) {
            this.name = name;
        }

        @Override
        public void elected(long token, Optional<byte[]> handed) {
            elected.complete(handed.map(Member::text).orElse("nothing"));
        }

        @Override
        public byte[] state() {
            return bytes(name);
        }

        @Override
        public byte[] called(String from, byte[] request) {
            return bytes(name + " answers " + from);
        }

        /** What the leader before has given it, when it leads. */
        String handed() throws Exception {
            return elected.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /**
     * One leads and is called, gives up, and the other one leads with its state and is called.
     *
     * @param url of the store, each time with a client of its own
     * @param options of both
     * @throws AssertionError if it is not so
     */
    public static void goesOnWhereTheFirstOneGaveUp(String url, GroupOptions options) throws Exception {
        Member a = new Member("a");
        Member b = new Member("b");
        try (LockClient one = Locks.open(url);
                LockClient two = Locks.open(url);
                ElectionGroup first = ElectionGroup.stand(one.election("group").as("a"), a, options)) {
            expect("nothing", a.handed());
            try (ElectionGroup second =
                    ElectionGroup.stand(two.election("group").as("b"), b, options)) {
                expect("a answers b", call(second));
                first.surrender();
                expect("a", b.handed());
                expect("b answers a", call(first));
            }
        }
    }

    private static String call(ElectionGroup group) throws Exception {
        return Member.text(
                group.call(new byte[0], PATIENCE).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    }

    private static void expect(String expected, String said) {
        if (!said.equals(expected)) {
            throw new AssertionError("expected \"" + expected + "\", heard \"" + said + "\"");
        }
    }
}
