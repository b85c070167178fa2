// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A link that the kit breaks where no proxy can stand. */
class BackendLinkTest {
    private static final LockUrl URL = LockUrl.parse("lock:reference://backend-link");
    private static final LockKey KEY = LockKey.lock(LockName.of("a"));
    private static final Duration LONG = Duration.ofSeconds(50);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final AtomicReference<BackendLink> made = new AtomicReference<>();

    @AutoClose
    private final LockClient client = open(true);

    private LockClient open(boolean waits) {
        ClassLoader loader = BackendLinkTest.class.getClassLoader();
        return Locks.open(URL, ClientOptions.defaults(), loader, new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                BackendLink link = new BackendLink(backend, waits);
                made.set(link);
                return link.shown();
            }
        });
    }

    /** The link of a client that has taken a lock, so that it has begun. */
    private BackendLink begun() throws InterruptedException {
        client.lock("begun").acquire().close();
        return made.get();
    }

    private static FutureTask<Integer> asking(BackendLink link) {
        FutureTask<Integer> asks = new FutureTask<>(() -> link.shown().availablePermits(KEY, 3, LONG));
        Thread thread = new Thread(asks, "asks");
        thread.setDaemon(true);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return asks;
    }

    @Test
    void theClientCallsTheLinkAndNotItsBackend() throws Exception {
        BackendLink link = begun();
        assertThat(client.unwrap(LockBackend.class)).isSameAs(link.shown());
        assertThat(link.shown().availablePermits(KEY, 3, LONG)).isEqualTo(3);
    }

    @Test
    void aVerbOverACutLinkTakesAllItsTime() throws Exception {
        BackendLink link = begun();
        link.cut(true);
        assertThatThrownBy(() -> link.shown().availablePermits(KEY, 3, SHORT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nothing moves");
    }

    @Test
    void aVerbThatHasTimeLeftGoesOnWhenTheLinkHeals() throws Exception {
        BackendLink link = begun();
        link.cut(true);
        FutureTask<Integer> asks = asking(link);
        link.cut(false);
        assertThat(asks.get()).isEqualTo(3);
    }

    @Test
    void aReplyThatIsLostStaysLost() throws Exception {
        BackendLink link = begun();
        link.loseReplies(true);
        FutureTask<Integer> asks = asking(link);
        link.loseReplies(false);
        assertThatThrownBy(asks::get).hasCauseInstanceOf(IOException.class).hasMessageContaining("lost");
    }

    @Test
    void inVirtualTimeNobodyWaits() throws Exception {
        try (LockClient other = open(false)) {
            other.lock("begun").acquire().close();
            made.get().cut(true);
            assertThatThrownBy(() -> made.get().shown().availablePermits(KEY, 3, LONG))
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void anEndThatIsToldWhileTheLinkIsCutArrivesLate() throws Exception {
        BackendLink link = begun();
        try (LockClient admin = Locks.open(URL);
                var lease = client.lock("b").acquire()) {
            link.cut(true);
            var lost = lease.lost().toCompletableFuture();
            LockKey key = LockKey.lock(LockName.of("b"));
            Thread breaks = new Thread(() -> breakLease(admin, key, lease.token()), "breaks");
            breaks.setDaemon(true);
            breaks.start();
            await().until(link::holdsBack);
            assertThat(lost).isNotDone();
            link.cut(false);
            assertThat(lost.get().detail()).contains("because");
        }
    }

    private static void breakLease(LockClient admin, LockKey key, long token) {
        try {
            admin.admin().breakLease(key, token, "because");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
