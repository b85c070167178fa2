// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ComplaintsTest {
    @Test
    void whatAPeerSentIsShownWithoutControlCharactersAndNotAtLength() {
        assertThat(Complaints.shown("a\u001b[31m\r\nb\u202e")).isEqualTo("a?[31m??b?");
        assertThat(Complaints.shown("x".repeat(10_000))).hasSize(300);
    }
}
