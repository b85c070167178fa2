// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Golden scripts: an input, then the trace of what the machine wants done. Times are milliseconds, the ttl is 8 s. */
abstract class MachineScript {

    static final LockKey KEY = LockKey.lock(LockName.of("x"));
    static final Duration TTL = Duration.ofSeconds(8);

    final StoreMachine machine;

    /** {@code features} are the store's. */
    MachineScript(Feature... features) {
        this(false, features);
    }

    MachineScript(boolean sessionBound, Feature... features) {
        machine = new StoreMachine(1, Set.of(features), sessionBound, "the store");
    }

    final void grantAll(int count) {
        for (int id = 1; id <= count; id++) {
            machine.submit(request(id, LockMode.SHARED, true), at(0));
            machine.attempted(id, at(0), granted(id, id), at(0));
        }
        machine.effects();
    }

    final void expect(String... trace) {
        assertThat(EffectLog.of(machine.effects()).lines).containsExactly(trace);
    }

    static Request request(long id, LockMode mode, boolean queue) {
        return new Request(id, KEY, mode, 1, 1, TTL, queue, new Owner("c", Map.of()));
    }

    static Grant grant(long id, long token) {
        return new Grant(id, KEY, token, TTL, "");
    }

    static Attempt granted(long id, long token) {
        return new Attempt.Granted(grant(id, token));
    }

    static Attempt waiting() {
        return new Attempt.Waiting(Duration.ofSeconds(2), OptionalInt.empty(), List.of());
    }

    static long at(long millis) {
        return millis * 1_000_000;
    }
}
