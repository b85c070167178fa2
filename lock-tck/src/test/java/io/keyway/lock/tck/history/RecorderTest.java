// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.Renewal;
import io.keyway.lock.reference.ReferenceWorld;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RecorderTest {

    @Test
    void aLeaseThatNobodyRenewedHasExpiredAndNoOther() throws Exception {
        try (LockClient client = Locks.open("lock:reference://recorder?clock=manual")) {
            Recorder recorder = new Recorder(System::nanoTime);
            LockClient recorded = recorder.record("holder", client);
            LockOptions once = LockOptions.none().withTtl(Duration.ofSeconds(4)).withRenewal(Renewal.NONE);
            Lease lapses = recorded.lock("lapses").with(once).acquire();
            recorded.lock("released").with(once).acquire().release();
            Lease renewed = recorded.lock("renewed").acquire();
            assertThat(recorder.hasExpired("lapses")).isFalse();
            client.unwrap(ReferenceWorld.class).advance(Duration.ofSeconds(5));
            assertThat(lapses.isHeld()).isFalse();
            assertThat(renewed.isHeld()).isTrue();
            assertThat(recorder.hasExpired("lapses")).isTrue();
            assertThat(recorder.hasExpired("released")).isFalse();
            assertThat(recorder.hasExpired("renewed")).isFalse();
        }
    }
}
