// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockAdmin;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUrl;
import io.keyway.lock.NodeSet;
import io.keyway.lock.Subscription;
import io.keyway.lock.WriterPolicy;
import java.util.Objects;
import java.util.Set;

/** A client that passes everything on. */
public abstract class ForwardingClient implements LockClient {
    private final LockClient to;

    protected ForwardingClient(LockClient to) {
        this.to = Objects.requireNonNull(to, "to");
    }

    /** The client that it stands before. */
    protected final LockClient to() {
        return to;
    }

    @Override
    public String name() {
        return to.name();
    }

    @Override
    public LockUrl url() {
        return to.url();
    }

    @Override
    public Set<Feature> features() {
        return to.features();
    }

    @Override
    public Guarantees guarantees() {
        return to.guarantees();
    }

    @Override
    public DistributedLock lock(LockName name) {
        return to.lock(name);
    }

    @Override
    public DistributedLock lock(LockName name, NodeSet nodes) {
        return to.lock(name, nodes);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name) {
        return to.readWriteLock(name);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name, WriterPolicy policy) {
        return to.readWriteLock(name, policy);
    }

    @Override
    public DistributedSemaphore semaphore(LockName name, Capacity capacity) {
        return to.semaphore(name, capacity);
    }

    @Override
    public LockAdmin admin() {
        return to.admin();
    }

    @Override
    public Subscription addListener(LockListener listener) {
        return to.addListener(listener);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        return type.isInstance(this) ? type.cast(this) : to.unwrap(type);
    }

    @Override
    public void close() {
        to.close();
    }

    @Override
    public String toString() {
        return to.toString();
    }
}
