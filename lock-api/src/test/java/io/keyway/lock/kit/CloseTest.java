// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** R16: after close there is no thread, no waiter and no lease of ours. */
class CloseTest extends ReferenceClients {

    private static final String REAL = "lock:reference://real?closeTimeout=2s";

    @Test
    @Tag("soak")
    void underAHundredWaitingThreads() throws Exception {
        LockClient other = open(REAL, ClientOptions.defaults().withName("other"));
        LockClient client = open(REAL, ClientOptions.defaults().withName("closing"));
        Lease held = other.lock("x").acquire();
        Lease own = client.lock("y").acquire();
        List<Running<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(inThread(() -> client.lock("x").acquire()));
        }
        awaitWaiters(other, "x", 100);
        client.close();
        for (Running<Lease> running : waiting) {
            assertThatThrownBy(running::get).hasCauseInstanceOf(ClientClosedException.class);
        }
        assertThat(threadsOf("closing")).isEmpty();
        assertThat(waiters(other, "x")).isZero();
        assertThat(own.state()).isEqualTo(Lease.State.LOST);
        assertThat(own.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        held.close();
        assertEmpty(other);
    }

    @Test
    void tellsLeasesAndListenersBeforeTheReleaseIsSent() throws Exception {
        LockClient client = open("a");
        ReferenceStore store = store(client);
        AtomicBoolean lossBeforeRelease = new AtomicBoolean();
        AtomicBoolean eventBeforeRelease = new AtomicBoolean();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.LOST) {
                eventBeforeRelease.set(!store.isEmpty());
            }
        });
        Lease lease = client.lock("x").acquire();
        CompletableFuture<LeaseLoss> lost = lease.lost().toCompletableFuture();
        var told = lost.thenAccept(loss -> lossBeforeRelease.set(!store.isEmpty()));
        client.close();
        told.get(2, TimeUnit.MINUTES);
        assertThat(lost.join().cause()).isEqualTo(LeaseLoss.Cause.CLIENT_CLOSED);
        assertThat(lossBeforeRelease).isTrue();
        assertThat(eventBeforeRelease).isTrue();
        assertThat(store.isEmpty()).isTrue();
        assertThat(threadsOf("a")).isEmpty();
    }

    @Test
    void fromAListenerDoesNotWaitForItself() throws Exception {
        // A name of its own: the thread of the listener outlives this close by a moment.
        LockClient client = open("listening");
        CountDownLatch closed = new CountDownLatch(1);
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.GRANTED) {
                client.close();
                closed.countDown();
            }
        });
        CompletableFuture<Lease> future = client.lock("x").acquireAsync();
        assertThat(future).isNotNull();
        assertThat(closed.await(2, TimeUnit.MINUTES)).isTrue();
        assertThatThrownBy(client::features).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void isBoundedThoughTheStoreHangsAndAListenerToo() throws Exception {
        LockClient client = open(
                "lock:reference://hung?closeTimeout=200ms",
                ClientOptions.defaults().withName("hung"));
        CountDownLatch forever = new CountDownLatch(1);
        Lease lease = client.lock("x").acquire();
        client.addListener(event -> awaitQuietly(forever));
        faults(client).hang(Verb.RELEASE);
        Running<Boolean> closing = inThread(() -> {
            client.close();
            return true;
        });
        assertThat(closing.get()).isTrue();
        assertThat(lease.isHeld()).isFalse();
        forever.countDown();
    }

    @Test
    void endsAReleaseAndAQuestionThatTheStoreNeverAnswers() throws Exception {
        LockClient client = open(
                "lock:reference://silent?closeTimeout=400ms&requestTimeout=5m",
                ClientOptions.defaults().withName("silent"));
        Lease lease = client.lock("x").acquire();
        faults(client).hang(Verb.RELEASE);
        faults(client).hang(Verb.ADMIN);
        Running<ReleaseOutcome> release = inThread(lease::release);
        Running<Object> question = inThread(() -> client.admin().list("", Optional.empty(), 10));
        await().atMost(PATIENCE)
                .until(() -> faults(client).isHanging(Verb.RELEASE)
                        && faults(client).isHanging(Verb.ADMIN)
                        && waits(release.thread())
                        && waits(question.thread()));
        client.close();
        assertThat(release.get()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThatThrownBy(question::get).hasCauseInstanceOf(ClientClosedException.class);
    }

    private static boolean waits(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    @Test
    void isBoundedThoughTheConnectionDoesNotClose() throws Exception {
        CountDownLatch forever = new CountDownLatch(1);
        Interceptor hangs = new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                return (LockBackend) Proxy.newProxyInstance(
                        LockBackend.class.getClassLoader(),
                        new Class<?>[] {LockBackend.class},
                        (proxy, verb, arguments) -> {
                            while (verb.getName().equals("close") && forever.getCount() > 0) {
                                awaitQuietly(forever);
                            }
                            return verb.invoke(backend, arguments);
                        });
            }
        };
        LockClient client = Locks.open(
                LockUrl.parse("lock:reference://hung-close?closeTimeout=400ms&name=hung-close"),
                ClientOptions.defaults(),
                getClass().getClassLoader(),
                hangs);
        client.lock("x").acquire();
        Running<Boolean> closing = inThread(() -> {
            client.close();
            return true;
        });
        assertThat(closing.get()).isTrue();
        forever.countDown();
        await().atMost(PATIENCE).until(() -> threadsOf("hung-close").isEmpty());
    }

    @Test
    void keepsTheInterruptFlag() {
        LockClient client = open(REAL, ClientOptions.defaults().withName("flag"));
        Thread.currentThread().interrupt();
        client.close();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void leavesNoThreadAfterUse() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("used"));
        List<LockEvent> events = Collections.synchronizedList(new ArrayList<>());
        client.addListener(events::add);
        for (int i = 0; i < 50; i++) {
            client.lock("x" + i).acquire().close();
        }
        assertThat(threadsOf("used")).isNotEmpty();
        client.close();
        assertThat(threadsOf("used")).isEmpty();
        assertEmptyStore();
    }

    @Test
    void anEagerOpenFailsWhereTheStoreDoes() {
        assertThatThrownBy(() -> Locks.open("lock:reference://down?connect=eager&fail=start&name=eager"))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("down");
        assertThat(threadsOf("eager")).isEmpty();
        LockClient lazy = open("lock:reference://down?fail=start&name=lazy", ClientOptions.defaults());
        assertThatThrownBy(() -> lazy.lock("x").tryAcquire()).isInstanceOf(LockUnavailableException.class);
    }

    private void assertEmptyStore() {
        assertEmpty(open(REAL, ClientOptions.defaults().withName("looking")));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
