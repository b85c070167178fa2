// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.fixture.GoodProvider;
import org.junit.jupiter.api.Test;

class ScopeTest {
    @Test
    void aProviderThatSaysNothingServesANetwork() {
        assertThat(new GoodProvider().scope(LockUrl.parse("lock:good://h"))).isEqualTo(Scope.NETWORK);
    }
}
