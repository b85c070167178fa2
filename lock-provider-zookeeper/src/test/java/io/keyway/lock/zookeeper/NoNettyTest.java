// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Locks;
import org.junit.jupiter.api.Test;

/** All other tests but that of TLS run without Netty; this one sees to it. */
class NoNettyTest {

    @Test
    void tlsWithoutNettyIsRefusedWithWhatToAdd() {
        assertThatThrownBy(() -> Class.forName("io.netty.util.Version")).isInstanceOf(ClassNotFoundException.class);

        assertThatThrownBy(() -> Locks.open("lock:zookeeper://127.0.0.1:1/keyway?tls=true"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("io.netty:netty-handler")
                .hasMessageContaining("io.netty:netty-transport-classes-epoll");
    }
}
