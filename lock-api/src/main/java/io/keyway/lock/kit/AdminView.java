// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.LockAdmin;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.TransactionReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The operator's view: waits for the engine's answer, at most the request timeout. */
final class AdminView implements LockAdmin {

    private final ClientContext client;

    AdminView(ClientContext client) {
        this.client = client;
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max) throws InterruptedException {
        Objects.requireNonNull(prefix, "prefix");
        Objects.requireNonNull(after, "after");
        if (max < 1) {
            throw new IllegalArgumentException("A page has at least 1 lock, not " + max);
        }
        require(Feature.LIST);
        return client.await(
                client.engine().list(prefix, after, max, client.requestTimeout()),
                () -> client.noAnswer("the listing", null));
    }

    @Override
    public Optional<LockStatus> show(LockKey key) throws InterruptedException {
        Objects.requireNonNull(key, "key");
        require(Feature.LIST);
        return client.await(
                client.engine().show(key, client.requestTimeout()), () -> client.noAnswer(key.toString(), key.name()));
    }

    @Override
    public boolean breakLease(LockKey key, long token, String reason) throws InterruptedException {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(reason, "reason");
        require(Feature.BREAK);
        return client.await(
                client.engine().breakGrant(key, token, ReasonText.of(reason), client.requestTimeout()),
                () -> new OutcomeUnknownException(
                        "Breaking token " + token + " of " + key + " was sent and not answered within "
                                + ResolvedOptions.text(client.requestTimeout()) + " by " + client.server()
                                + ". It names the token, so it is safe to send it again.",
                        key.name(),
                        client.server(),
                        null));
    }

    /** The same, each with what there is of its lock now. */
    List<TransactionReport.Wait> shown(List<TransactionReport.Wait> waits) throws InterruptedException {
        List<TransactionReport.Wait> shown = new ArrayList<>(waits.size());
        for (TransactionReport.Wait wait : waits) {
            shown.add(new TransactionReport.Wait(
                    wait.lock(), wait.mode(), wait.waited(), show(LockKey.lock(wait.lock()))));
        }
        return shown;
    }

    private void require(Feature feature) {
        client.ensureOpen(null);
        client.require(feature);
    }
}
