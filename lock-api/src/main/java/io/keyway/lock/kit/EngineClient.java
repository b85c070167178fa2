// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockAdmin;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockSet;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockUrl;
import io.keyway.lock.NodeSet;
import io.keyway.lock.Subscription;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.RaisingEngine;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;

/** The client over any engine: hands out views, which stand on its {@link ClientContext}. */
final class EngineClient implements LockClient {

    private final LockUrl url;
    private final LockOptions lockDefaults;
    private final LockEngine engine;
    private final ClientContext context;
    private final ClientShutdown shutdown;

    private EngineClient(Settings settings, LockEngine engine) {
        this.url = settings.url();
        this.engine = engine;
        this.lockDefaults = settings.options().lockDefaults();
        Executor given = settings.options().eventExecutor().orElse(null);
        EventThread own = given == null ? new EventThread(settings.name()) : null;
        EventDispatcher events = new EventDispatcher(given != null ? given : Objects.requireNonNull(own));
        this.context = new ClientContext(engine, settings, events);
        this.shutdown = new ClientShutdown(context, own, settings.time(), settings.closeTimeout());
    }

    static EngineClient open(Settings settings, LockEngine engine) {
        EngineClient client = new EngineClient(settings, engine);
        engine.observe(new ConnectionEvents(client.context));
        return client;
    }

    @Override
    public String name() {
        return context.name();
    }

    @Override
    public LockUrl url() {
        return url;
    }

    @Override
    public Set<Feature> features() {
        context.ensureOpen(null);
        return engine.features();
    }

    @Override
    public Guarantees guarantees() {
        context.ensureOpen(null);
        return engine.guarantees();
    }

    @Override
    public DistributedLock lock(LockName name) {
        context.ensureOpen(name);
        return engine.locksTrees()
                ? TreeView.both(context, name, lockDefaults).write()
                : new LockView(context, LockKey.lock(name), LockMode.EXCLUSIVE, lockDefaults);
    }

    @Override
    public DistributedLock lock(LockName name, NodeSet nodes) {
        Objects.requireNonNull(nodes, "nodes");
        context.ensureOpen(name);
        context.require(Feature.NODE_SETS);
        if (!(engine instanceof RaisingEngine raising)) {
            throw new UnsupportedFeatureException(
                    Feature.NODE_SETS, url + ", of which each node has tokens of its own,");
        }
        return new NodesView(context, raising, name, nodes, lockDefaults);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name) {
        return readWriteLock(name, WriterPolicy.hard());
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name, WriterPolicy policy) {
        context.ensureOpen(name);
        context.require(Feature.READ_WRITE);
        if (policy.isSoft()) {
            context.require(Feature.DRAIN);
        }
        if (engine.locksTrees()) {
            return TreeView.both(context, name, lockDefaults);
        }
        LockKey key = LockKey.lock(name);
        DistributedLock read = new LockView(context, key, LockMode.SHARED, lockDefaults);
        DistributedLock write = new LockView(context, key, policy, lockDefaults);
        return new ReadWriteView(read, write, new ModeChange(context, key));
    }

    @Override
    public DistributedReadWriteLock tree(LockName name) {
        context.ensureOpen(name);
        context.require(Feature.TREE);
        return TreeView.both(context, name, lockDefaults);
    }

    @Override
    public LockSet locks(Collection<LockName> names) {
        Wishes.refuseToKeep(lockDefaults);
        LockSet flat = LockClient.super.locks(names);
        return engine.locksTrees() ? new TreeSetView(context, flat.names(), lockDefaults) : flat;
    }

    @Override
    public DistributedSemaphore semaphore(LockName name, Capacity capacity) {
        Objects.requireNonNull(capacity, "capacity");
        context.ensureOpen(name);
        context.require(Feature.SEMAPHORE);
        return new SemaphoreView(context, LockKey.semaphore(name), capacity, lockDefaults);
    }

    @Override
    public LockTransaction transaction(TransactionOptions options) {
        Objects.requireNonNull(options, "options");
        context.ensureOpen(null);
        context.require(Feature.TRANSACTIONS);
        if (options.tree()) {
            context.require(Feature.TREE);
        }
        return new TransactionView(context, options, lockDefaults);
    }

    @Override
    public LockAdmin admin() {
        context.ensureOpen(null);
        return new AdminView(context);
    }

    @Override
    public Subscription addListener(LockListener listener) {
        Objects.requireNonNull(listener, "listener");
        context.ensureOpen(null);
        return context.addListener(listener);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        context.ensureOpen(null);
        if (type == ClientServices.class) {
            return type.cast(new ContextServices(context));
        }
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        if (type.isInstance(engine)) {
            return type.cast(engine);
        }
        return engine.unwrap(type)
                .orElseThrow(() -> new IllegalArgumentException(url + " has nothing of type " + type.getName()));
    }

    @Override
    public void close() {
        shutdown.close();
    }

    ClientContext context() {
        return context;
    }

    @Override
    public String toString() {
        return "LockClient[" + context.name() + ", " + url + "]";
    }
}
