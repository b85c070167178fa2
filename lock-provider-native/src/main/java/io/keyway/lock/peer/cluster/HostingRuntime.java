// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** The seat of a client whose process hosts a member for it. */
final class HostingRuntime implements ClientRuntime {
    private final ClientRuntime client;
    private final Runnable leave;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param leave what to do once when the client has closed */
    HostingRuntime(ClientRuntime client, Runnable leave) {
        this.client = client;
        this.leave = leave;
    }

    @Override
    public void post(Input input) {
        client.post(input);
    }

    @Override
    public void tell(Input input) {
        client.tell(input);
    }

    @Override
    public TimeSource time() {
        return client.time();
    }

    @Override
    public String server() {
        return client.server();
    }

    @Override
    public void observe(LockEngine.Observer observer) {
        client.observe(observer);
    }

    @Override
    public Optional<CompletionStage<Void>> greeted() {
        return client.greeted();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return client.unwrap(type);
    }

    @Override
    public void close() {
        client.close();
        if (closed.compareAndSet(false, true)) {
            leave.run();
        }
    }
}
