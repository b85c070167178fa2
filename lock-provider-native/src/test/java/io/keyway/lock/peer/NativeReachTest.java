// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NativeReachTest {
    @ParameterizedTest
    @CsvSource({
        "lock:native:mem://a, JVM",
        "lock:native:local://, MACHINE",
        "lock:native:local:///srv/locks, MACHINE",
        "'lock:native://a:7400,b:7400/c', NETWORK",
        "'lock:native:lease://a:7400,b:7400/c', NETWORK"
    })
    void saysWhoCanShareTheLocksOfAUrl(String url, Scope reach) {
        assertThat(new NativeLockProvider().scope(LockUrl.parse(url))).isEqualTo(reach);
    }
}
