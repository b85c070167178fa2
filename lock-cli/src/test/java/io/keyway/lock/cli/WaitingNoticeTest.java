// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WaitingNoticeTest {
    private static final LockKey KEY = LockKey.lock(LockName.of("n"));

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CompletableFuture<String> saidBefore = new CompletableFuture<>();
    private final CountDownLatch looked = new CountDownLatch(1);
    private int pauses;

    @Test
    void namesTheHolderWhenTheRequestIsKnownToWait() throws Exception {
        try (LockClient holder = Locks.open("lock:native:mem://notice?name=holder");
                LockClient waiter = Locks.open("lock:native:mem://notice?name=waiter");
                Lease lease = holder.lock(KEY.name()).acquire()) {
            StepClock clock = new StepClock(nanos -> {
                pauses++;
                if (pauses == 4) {
                    saidBefore.complete(err());
                    awaitTheWait(waiter);
                } else if (pauses == 6) {
                    looked.countDown();
                }
            });
            PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
            Console console = new Console(stream, stream, false, false, Map.of(), clock);
            try (WaitingNotice notice = WaitingNotice.begin(console, waiter, List.of(KEY))) {
                assertThat(saidBefore.get(Patience.seconds(20), TimeUnit.SECONDS))
                        .as("its request has not been answered")
                        .isEmpty();
                assertThat(looked.await(Patience.seconds(20), TimeUnit.SECONDS)).isTrue();
                assertThat(err()).startsWith("keyway: waiting for n, held by holder");
            }
            assertThat(lease.isHeld()).isTrue();
        }
    }

    private static void awaitTheWait(LockClient waiter) {
        CompletableFuture<LockEvent> waits = new CompletableFuture<>();
        waiter.addListener(event -> {
            if (event.type() == LockEvent.Type.WAITING) {
                waits.complete(event);
            }
        });
        CompletableFuture<Lease> wanted = waiter.lock(KEY.name()).acquireAsync();
        waits.orTimeout(Patience.seconds(20), TimeUnit.SECONDS).join();
        assertThat(wanted).isNotDone();
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
