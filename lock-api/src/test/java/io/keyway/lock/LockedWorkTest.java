// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LockedWorkTest {
    private final HeapLock lock = new HeapLock();

    @Test
    void releasesAfterTheWork() throws Exception {
        long token = lock.callLocked(lease -> {
            assertThat(lock.isHeld()).isTrue();
            return lease.token();
        });

        assertThat(token).isEqualTo(1);
        assertThat(lock.isHeld()).isFalse();
    }

    @Test
    void lossDuringTheWorkIsReported() {
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    lock.lose();
                    return "done";
                }))
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void exceptionOfTheWorkWinsAndCarriesTheLoss() {
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    lock.lose();
                    throw new IOException("disk");
                }))
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class));
        assertThat(lock.isHeld()).isFalse();
    }

    @Test
    void exceptionOfTheWorkReleases() {
        assertThatThrownBy(() -> lock.callLocked(lease -> {
                    throw new IOException("disk");
                }))
                .isInstanceOf(IOException.class)
                .hasNoSuppressedExceptions();
        assertThat(lock.isHeld()).isFalse();
    }

    @Test
    void releaseByTheWorkIsNoLoss() throws Exception {
        assertThat(lock.<String, RuntimeException>callLocked(lease -> {
                    lease.close();
                    return "done";
                }))
                .isEqualTo("done");
    }

    @Test
    void tryRunSaysWhetherItRan() throws Exception {
        int[] runs = {0};
        Lease other = lock.acquire();

        assertThat(lock.tryRunLocked(Duration.ZERO, lease -> runs[0]++)).isFalse();
        assertThat(runs[0]).isZero();

        other.close();
        assertThat(lock.tryRunLocked(Duration.ZERO, lease -> runs[0]++)).isTrue();
        assertThat(runs[0]).isEqualTo(1);
        assertThat(lock.isHeld()).isFalse();
    }
}
