// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.spi.ClientServices;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which events of a client are about the lock of an election. */
class ElectionLockTest {
    private final ElectionLock election = new ElectionLock(
            new ElectionLock.Uses(
                    "a",
                    name -> {
                        throw new AssertionError(name);
                    },
                    (name, nodes) -> {
                        throw new AssertionError(name);
                    },
                    listener -> () -> {},
                    key -> Optional.empty(),
                    Set.of(),
                    (ClientServices) Proxy.newProxyInstance(
                            ClientServices.class.getClassLoader(),
                            new Class<?>[] {ClientServices.class},
                            (proxy, method, args) -> {
                                throw new AssertionError(method);
                            }),
                    "lock:test://x"),
            LockName.of("region/city/house"),
            LockOptions.none(),
            null);

    private static Lease lease(Lease.State state) {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, args) -> method.getName().equals("token") ? (Object) 7L : state);
    }

    private boolean isAbout(LockEvent.Type type, String name, long token, Lease.State state) {
        LockEvent event = new LockEvent(
                type, LockKey.lock(LockName.of(name)), OptionalLong.of(token), Optional.empty(), Duration.ZERO);
        return election.isAbout(event, lease(state));
    }

    @Test
    void theGrantOfTheLockItselfIsKnownByItsToken() {
        for (Lease.State state : Lease.State.values()) {
            assertThat(isAbout(LockEvent.Type.DOUBTFUL, "region/city/house", 7, state))
                    .isTrue();
        }
        assertThat(isAbout(LockEvent.Type.DOUBTFUL, "region/city/house", 6, Lease.State.HELD))
                .isFalse();
        assertThat(isAbout(LockEvent.Type.DOUBTFUL, "region/city/houseboat", 7, Lease.State.DOUBTFUL))
                .isFalse();
    }

    /** The lock of a tree stands on the grants of all levels above it, each with a token of its own. */
    @Test
    void aLevelAboveALockOfATreeIsInDoubtForIt() {
        assertThat(isAbout(LockEvent.Type.DOUBTFUL, "region", 3, Lease.State.DOUBTFUL))
                .isTrue();
        assertThat(isAbout(LockEvent.Type.RECOVERED, "region/city", 4, Lease.State.HELD))
                .isTrue();
        assertThat(isAbout(LockEvent.Type.RECOVERED, "region/city", 4, Lease.State.DOUBTFUL))
                .as("another level is in doubt still")
                .isFalse();
        assertThat(isAbout(LockEvent.Type.DOUBTFUL, "region", 3, Lease.State.HELD))
                .as("a flat lock of that name")
                .isFalse();
    }
}
