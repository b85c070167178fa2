// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Finds out, once for a run, whether the proxies stand on all ways from a client to the servers. */
final class Links {
    private static final int NAMES = 12;
    private static final Duration SHORT = Duration.ofMillis(500);

    private Optional<Boolean> known = Optional.empty();

    synchronized boolean areThese(Network network, CheckContext context) throws InterruptedException {
        if (known.isEmpty()) {
            known = Optional.of(probe(network, context));
            network.reset();
            network.heal();
        }
        return known.get();
    }

    private static boolean probe(Network network, CheckContext context) throws InterruptedException {
        ClientOptions options = ClientOptions.defaults().withName("tck-links");
        try (LockClient client = context.openUnrecorded(network.url(), options.withRequestTimeout(SHORT))) {
            client.lock(context.freshName()).acquire().release();
            if (network.connections() == 0) {
                return false;
            }
            network.blackHole();
            List<CompletableFuture<Optional<Lease>>> attempts = new ArrayList<>();
            for (int i = 0; i < NAMES; i++) {
                attempts.add(client.lock(context.freshName()).tryAcquireAsync(SHORT));
            }
            return attempts.stream().noneMatch(Links::isGranted);
        }
    }

    private static boolean isGranted(CompletableFuture<Optional<Lease>> attempt) {
        try {
            return attempt.join().isPresent();
        } catch (CompletionException e) {
            return false;
        }
    }
}
