// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Thousands of waiters on one name: each is granted, in the order of asking, and none costs the others an attempt. */
class ManyWaitersTest extends ReferenceClients {

    private static final int WAITERS = 3_000;

    @Test
    void areGrantedInOrderWithOneAttemptForEachHandOver() throws Exception {
        LockClient client = open(manual, ClientOptions.defaults().withName("a").withEventExecutor(Runnable::run));
        Lease held = client.lock("x").acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(client.lock("x").acquireAsync());
        }
        assertThat(waiters(client, "x")).isEqualTo(WAITERS);
        long before = store(client).attempts();
        long token = held.token();
        held.close();
        for (CompletableFuture<Lease> future : waiting) {
            Lease lease = future.get(2, TimeUnit.MINUTES);
            assertThat(lease.token()).isGreaterThan(token);
            token = lease.token();
            lease.close();
        }
        assertThat(store(client).attempts() - before).isLessThan(2L * WAITERS);
        assertEmpty(client);
    }
}
