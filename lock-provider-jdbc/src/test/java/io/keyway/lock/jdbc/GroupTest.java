// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.group.ElectionGroup;
import io.keyway.lock.group.GroupMember;
import io.keyway.lock.group.GroupOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes of an election that talk with each other, where the store has to be asked who leads. */
@Timeout(120)
class GroupTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final class Member implements GroupMember {
        private final String name;
        private volatile String handed = "";

        Member(String name) {
            this.name = name;
        }

        @Override
        public void elected(long token, Optional<byte[]> state) {
            handed = state.map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                    .orElse("nothing");
        }

        @Override
        public byte[] state() {
            return name.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public byte[] called(String from, byte[] request) {
            return (name + " answers " + from).getBytes(StandardCharsets.UTF_8);
        }
    }

    private static String call(ElectionGroup group) throws Exception {
        byte[] answer = group.call(new byte[0], PATIENCE).toCompletableFuture().get(60, TimeUnit.SECONDS);
        return new String(answer, StandardCharsets.UTF_8);
    }

    @Test
    void theNextLeaderGoesOnWhereTheFirstOneGaveUp() throws Exception {
        String url = "lock:jdbc:h2:mem:group;DB_CLOSE_DELAY=-1";
        Member a = new Member("a");
        Member b = new Member("b");
        try (LockClient one = Locks.open(url);
                LockClient two = Locks.open(url);
                ElectionGroup first = ElectionGroup.stand(one.election("group").as("a"), a, GroupOptions.defaults())) {
            await().atMost(PATIENCE).until(first::isLeading);
            try (ElectionGroup second =
                    ElectionGroup.stand(two.election("group").as("b"), b, GroupOptions.defaults())) {
                assertThat(call(second)).isEqualTo("a answers b");
                first.surrender();
                await().atMost(PATIENCE).until(() -> b.handed.equals("a"));
                assertThat(call(first)).isEqualTo("b answers a");
            }
        }
    }
}
