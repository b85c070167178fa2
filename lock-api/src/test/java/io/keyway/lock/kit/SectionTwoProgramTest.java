// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SectionTwoProgramTest extends ReferenceClients {

    @Test
    void runsOnTheReferenceStore() throws Exception {
        assertThat(SectionTwoProgram.run("lock:reference://program?without=upgrade"))
                .contains(
                        "providers: true",
                        "billing-7 true true PT0.1S",
                        "a/b RELEASED RELEASED",
                        "ran true",
                        "rw SHARED SHARED",
                        "rw EXCLUSIVE",
                        "pool 1 2 true 4",
                        "lock broken billing-7 true BROKEN",
                        "guarded",
                        "upgrade false",
                        "downgrade false",
                        "LOCK shown false 1",
                        "functions true true false",
                        "closed CLIENT_CLOSED LOST ALREADY_LOST",
                        "lost CLIENT_CLOSED false",
                        "closed client false");
    }
}
