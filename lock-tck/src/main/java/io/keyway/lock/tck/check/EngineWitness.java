// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Request;
import java.util.Arrays;
import java.util.function.Consumer;

/** Stands between a client and the engine of its provider, and listens to what the engine tells each sink. */
final class EngineWitness {
    private EngineWitness() {}

    /** {@code report} hears what the rule LK-1508 forbids, by whichever thread. */
    static LockEngine before(LockEngine engine, Consumer<String> report) {
        return Altered.before(LockEngine.class, engine, (method, arguments) -> {
            Request request = Arrays.stream(arguments)
                    .filter(Request.class::isInstance)
                    .map(Request.class::cast)
                    .findFirst()
                    .orElse(null);
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof LockEngine.Sink sink) {
                    arguments[i] = new SinkWitness(sink, request, report);
                }
            }
            return arguments;
        });
    }
}
