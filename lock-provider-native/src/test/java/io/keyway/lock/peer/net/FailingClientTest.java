// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A client in which a turn fails: whoever holds a lease under it hears that it is lost, and others get locks again. */
class FailingClientTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final class Client implements CellLoop.Surroundings, AutoCloseable {
        private final ClientLoop thread = new ClientLoop("failing", new SuspendAwareClock(System::nanoTime, () -> 0));
        private final List<Notice> notices = new CopyOnWriteArrayList<>();
        private final List<Throwable> failures = new CopyOnWriteArrayList<>();
        private final TcpMember member;
        private final CellLoop loop;
        private final ClientDialer dialer;
        private volatile boolean poisoned;

        Client(TcpMember member) {
            this.member = member;
            thread.start();
            this.loop = new CellLoop(thread, member.cells.client(), this, System::nanoTime);
            this.dialer = new ClientDialer(
                    thread,
                    loop,
                    new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM)),
                    PATIENCE,
                    Optional.empty(),
                    "the connection to m");
        }

        void acquire(long request, String name) {
            loop.post(new Input.Command(
                    LeaseKeys.lock(name),
                    new LockCall.Acquire(
                            request,
                            LockMode.EXCLUSIVE,
                            1,
                            1,
                            TimeUnit.SECONDS.toNanos(30),
                            new Owner("client", Map.of()),
                            true,
                            false,
                            TimeUnit.SECONDS.toNanos(1),
                            0,
                            name)));
        }

        boolean granted(String name) {
            return notices.stream()
                    .anyMatch(each -> each instanceof LockNotice.Granted granted && name.equals(granted.user()));
        }

        @Override
        public void dial(long link) {
            dialer.connect(link, member.address(), why -> loop.refused(link, why));
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            throw new AssertionError("clients keep nothing");
        }

        @Override
        public Optional<Input> failed(Throwable why) {
            poisoned = false;
            failures.add(why);
            return Optional.of(new Input.Reborn(0, 0, "this client has failed: " + why.getMessage()));
        }

        @Override
        public void heard(Notice notice) {
            if (poisoned) {
                throw new IllegalStateException("poison");
            }
            notices.add(notice);
        }

        @Override
        public void close() {
            thread.run(loop::shut);
            thread.close();
        }
    }

    @Test
    void aTurnThatFailsEndsTheSessionWithAWordToWhoeverHolds() throws IOException {
        try (TcpMember member = new TcpMember(1, Security.insecure(), MemberAcceptor.Limits.USUAL);
                Client client = new Client(member)) {
            client.acquire(1, "a");
            await().atMost(Patience.of(PATIENCE)).until(() -> client.granted("a"));
            client.poisoned = true;
            client.acquire(2, "b");
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> client.notices.stream()
                            .anyMatch(each -> each instanceof LockNotice.Ended ended
                                    && "a".equals(ended.user())
                                    && ended.detail().contains("poison")));
            assertThat(client.failures).hasSize(1);
            client.acquire(3, "c");
            await().atMost(Patience.of(PATIENCE)).until(() -> client.granted("c"));
        }
    }

    /** Asks where the stack is over, and again and again on the way back. */
    @SuppressWarnings("InfiniteRecursion") // that is what it is for
    private static int deep(Client client, int depth) {
        int below;
        try {
            below = deep(client, depth + 1);
        } catch (StackOverflowError e) {
            client.acquire(1000 + depth, "deep" + depth);
            below = 0;
        }
        return below + 1;
    }

    @Test
    void aThreadThatHasNoStackLeftDoesNotEndTheClient() throws Exception {
        try (TcpMember member = new TcpMember(1, Security.insecure(), MemberAcceptor.Limits.USUAL);
                Client client = new Client(member)) {
            client.acquire(1, "a");
            await().atMost(Patience.of(PATIENCE)).until(() -> client.granted("a"));
            for (int i = 0; i < 20; i++) {
                AtomicInteger depth = new AtomicInteger();
                long stack = 200_000 + 4_096L * i;
                Thread user = new Thread(null, () -> depth.set(deep(client, 0)), "deep", stack);
                user.start();
                user.join();
                assertThat(depth).hasPositiveValue();
                String name = "after" + i;
                client.acquire(2 + i, name);
                await().atMost(Patience.of(PATIENCE)).until(() -> client.granted(name));
            }
        }
    }
}
