// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockNotice;
import org.junit.jupiter.api.Test;

class AlarmTest {
    @Test
    void aNameOrReasonForgesNoLineOfALog() {
        LockNotice.Alarm alarm = new LockNotice.Alarm(
                LeaseKeys.lock("jobs\u001b[2K/1"),
                "break of token 7: hangs\r\n2026-01-01 ERROR all is lost\u202e" + "x".repeat(5_000));
        assertThat(alarm.shown())
                .startsWith("jobs?[2K/1: break of token 7: hangs??2026-01-01 ERROR all is lost?xxx")
                .hasSize(1_200);
    }
}
