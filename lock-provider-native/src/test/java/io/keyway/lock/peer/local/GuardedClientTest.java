// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client with a guard works for something that has to be stopped, so closing a broken lease says that it has been.
 */
class GuardedClientTest {
    @TempDir
    Path directory;

    @Test
    void aBrokenLockIsNobodysBeforeItsLeaseIsClosed() throws Exception {
        String url = "lock:native:local://" + directory.resolve("locks") + "?ttl=1h&maxTtl=1h&requestTimeout=250ms";
        LockKey key = LockKey.lock(LockName.of("a"));
        try (LockClient guarded =
                        Locks.open(url, ClientOptions.defaults().with(NativeOptions.GUARD, LocalGuard.draw()));
                LockClient other = Locks.open(url)) {
            Lease lease = guarded.lock("a").acquire();

            assertThatThrownBy(() -> other.admin().breakLease(key, lease.token(), "it hangs"))
                    .isInstanceOf(OutcomeUnknownException.class);
            assertThat(lease.lost()
                            .toCompletableFuture()
                            .get(Patience.seconds(30), TimeUnit.SECONDS)
                            .cause())
                    .isEqualTo(LeaseLoss.Cause.BROKEN);
            assertThat(other.lock("a").tryAcquire()).isEmpty();

            lease.close();
            Optional<Lease> next = other.lock("a").tryAcquire(Duration.ofSeconds(30));
            assertThat(next).isPresent();
            assertThat(next.get().token()).isGreaterThan(lease.token());
        }
    }
}
