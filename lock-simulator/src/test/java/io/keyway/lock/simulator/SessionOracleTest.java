// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.simulator.SessionOracle.Client;
import io.keyway.lock.simulator.SessionOracle.Session;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Hand-made histories: the good ones pass, the bad ones are found. */
class SessionOracleTest {
    private static final Client CLIENT = new Client(1, 1);
    private static final Session FIRST = new Session(1, 1);
    private static final Session SECOND = new Session(1, 2);

    private final SessionOracle oracle = new SessionOracle();
    private boolean believes = true;

    private static void violates(String property, ThrowingCallable history) {
        assertThatThrownBy(history).isInstanceOf(Violation.class).hasMessageStartingWith(property + ":");
    }

    @Test
    void messagesInOrderPass() {
        assertThatCode(() -> {
                    oracle.heard(FIRST, CLIENT, "a", 1);
                    oracle.heard(FIRST, CLIENT, "b", 1);
                    oracle.heard(FIRST, CLIENT, "a", 2);
                    oracle.heard(SECOND, CLIENT, "a", 1);
                    oracle.answered("session", "a", 1);
                    oracle.answered("session", "a", 2);
                })
                .doesNotThrowAnyException();
    }

    @Test
    void aLostMessageIsFound() {
        violates("ORDER", () -> oracle.heard(FIRST, CLIENT, "a", 2));
    }

    @Test
    void aDoubledMessageIsFound() {
        oracle.answered("session", "a", 1);
        violates("ORDER", () -> oracle.answered("session", "a", 1));
    }

    @Test
    void aMessageOfAnOlderSessionIsFound() {
        oracle.heard(FIRST, CLIENT, "a", 1);
        oracle.heard(SECOND, CLIENT, "a", 1);
        violates("DOUBLE SESSION", () -> oracle.heard(FIRST, CLIENT, "a", 2));
    }

    @Test
    void anEndWhileItsClientBelievesIsFound() {
        oracle.heard(FIRST, CLIENT, "a", 1);
        oracle.held(CLIENT, FIRST, "a", 7, () -> believes);
        violates("EXPIRY", () -> oracle.ended(FIRST, "a", 7));
    }

    @Test
    void anEndAfterTheBeliefPasses() {
        oracle.heard(FIRST, CLIENT, "a", 1);
        oracle.held(CLIENT, FIRST, "a", 7, () -> believes);
        believes = false;
        assertThatCode(() -> oracle.ended(FIRST, "a", 7)).doesNotThrowAnyException();
    }
}
