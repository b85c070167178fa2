// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BreakReasonTest extends ReferenceClients {

    @Test
    void theHolderLearnsWhyItsLeaseWasBroken() throws Exception {
        Lease lease = open("holder").lock("x").acquire();
        assertThat(open("operator")
                        .admin()
                        .breakLease(LockKey.lock(LockName.of("x")), lease.token(), "stuck\nsince noon"))
                .isTrue();
        LeaseLoss loss = lease.lost().toCompletableFuture().get(2, TimeUnit.MINUTES);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(loss.detail()).isEqualTo("broken: stuck since noon");
    }

    @Test
    void aReasonIsOneLineOfBoundedLength() {
        assertThat(ReasonText.of("")).isEmpty();
        assertThat(ReasonText.of(" a\tb\u001b[31mc\n")).isEqualTo("a b [31mc");
        assertThat(ReasonText.of("x\ud800y")).isEqualTo("x y");
        String smileys = ReasonText.of("\ud83d\ude00".repeat(1_000));
        assertThat(smileys.getBytes(StandardCharsets.UTF_8)).hasSize(ReasonText.MAX_BYTES);
        assertThat(smileys).hasSize(ReasonText.MAX_BYTES / 2);
    }
}
