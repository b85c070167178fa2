// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** That the sleep of ZooKeeper's client is cut short, and nothing else is. */
class ReconnectPolicyTest {
    private final HostProvider redial = new ReconnectPolicy(
            new StaticHostProvider(new ConnectStringParser("127.0.0.1:1,127.0.0.1:2").getServerAddresses()),
            320,
            server -> {});

    @AfterEach
    void clearTheInterrupt() {
        boolean unused = Thread.interrupted();
    }

    @Test
    void theFirstConnectionIsNotInterruptedSinceTheClientDoesNotSleepBeforeIt() {
        redial.next(0);
        redial.next(0);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void theSleepBeforeALaterOneIsInterrupted() {
        redial.next(0);
        redial.onConnected();

        for (int i = 0; i < 10; i++) {
            assertThat(redial.next(0).getPort()).isBetween(1, 2);
            // As the sleep of the client does.
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aClientThatDoesNotSleepIsInterruptedOnceAndNeverAgain() {
        redial.next(0);
        redial.onConnected();
        redial.next(0);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();

        for (int i = 0; i < 3; i++) {
            redial.next(0);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            redial.onConnected();
        }
    }

    @Test
    void aServerThatHasNoAddressIsNamed() {
        String url = "lock:zookeeper://nosuchhost.invalid?requestTimeout=1s";
        try (LockClient client = Locks.open(url)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("unknown host: nosuchhost.invalid");
        }
    }
}
