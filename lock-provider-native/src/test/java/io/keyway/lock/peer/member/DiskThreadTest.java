// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DiskThreadTest {
    @Test
    void anErrorOfTheMachineIsToldToo() throws Exception {
        CompletableFuture<RuntimeException> failed = new CompletableFuture<>();
        DiskThread disk = new DiskThread("disk", failed::complete);
        disk.run(() -> {
            throw new StackOverflowError("too deep");
        });
        assertThat(failed.get(Patience.seconds(30), TimeUnit.SECONDS)).hasRootCauseInstanceOf(StackOverflowError.class);
        assertThat(disk.end()).isTrue();
    }
}
