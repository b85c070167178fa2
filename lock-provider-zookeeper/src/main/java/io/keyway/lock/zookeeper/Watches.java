// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;

/**
 * The watches of a session. ZooKeeper's client keeps a watcher until its node changes, whether anybody still wants to
 * know or not: so there is one for each node, however many requests watch it one after the other, and they come and
 * go behind it.
 */
final class Watches {
    private final EnsembleCalls calls;
    private final Map<String, Shared> data = new ConcurrentHashMap<>();
    private final Map<String, Shared> children = new ConcurrentHashMap<>();

    Watches(EnsembleCalls calls) {
        this.calls = calls;
    }

    /** Reads a node's data; if that succeeds, {@code watcher} hears of their next change, or of the node's deletion. */
    <T> CompletableFuture<T> data(String path, Watcher watcher, BiFunction<byte[], Stat, T> content) {
        Shared shared = shared(data, path, watcher);
        return answered(calls.read(path, shared, content), shared, watcher);
    }

    /** As {@link #children}, with the state of the node itself. */
    CompletableFuture<EnsembleCalls.Listing> listing(String path, Watcher watcher) {
        Shared shared = shared(children, path, watcher);
        return answered(calls.listing(path, shared), shared, watcher);
    }

    /**
     * Lists a node's children; if that succeeds, {@code watcher} hears of their next change, or of the node's deletion.
     */
    CompletableFuture<List<String>> children(String path, Watcher watcher) {
        Shared shared = shared(children, path, watcher);
        return answered(calls.children(path, shared), shared, watcher);
    }

    /** Fails as the call does; a dependent of its future would fail with an exception that wraps the ensemble's. */
    private static <T> CompletableFuture<T> answered(CompletableFuture<T> asked, Shared shared, Watcher watcher) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        CompletableFuture<T> unused = asked.whenComplete((value, failure) -> {
            shared.set(watcher, failure == null);
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    /** {@code watcher} does not want to hear of that node any more. */
    void forget(String path, Watcher watcher) {
        for (Map<String, Shared> kind : List.of(data, children)) {
            Shared shared = kind.get(path);
            if (shared != null) {
                shared.forget(watcher);
            }
        }
    }

    /** Takes all watchers out of the handle, which lives on. */
    void removeAll() {
        data.forEach((path, shared) -> remove(path, shared, Watcher.WatcherType.Data));
        children.forEach((path, shared) -> remove(path, shared, Watcher.WatcherType.Children));
    }

    private void remove(String path, Shared shared, Watcher.WatcherType type) {
        shared.forgetAll();
        calls.removeWatch(path, shared, type);
    }

    /** How many nodes are watched. */
    int size() {
        return data.size() + children.size();
    }

    private static Shared shared(Map<String, Shared> kind, String path, Watcher watcher) {
        while (true) {
            Shared shared = kind.computeIfAbsent(path, none -> new Shared(kind, path));
            if (shared.add(watcher)) {
                return shared;
            }
            kind.remove(path, shared);
        }
    }

    /** The watcher of one node: it tells once, all those who still want to know. */
    private static final class Shared implements Watcher {
        private final Map<String, Shared> kind;
        private final String path;
        private final Set<Watcher> watchers = new LinkedHashSet<>();

        /** The handle has it. */
        private boolean set;

        private boolean over;

        Shared(Map<String, Shared> kind, String path) {
            this.kind = kind;
            this.path = path;
        }

        synchronized boolean add(Watcher one) {
            if (!over) {
                watchers.add(one);
            }
            return !over;
        }

        synchronized void forget(Watcher one) {
            watchers.remove(one);
        }

        synchronized void forgetAll() {
            watchers.clear();
        }

        void set(Watcher one, boolean done) {
            synchronized (this) {
                set |= done;
                if (!done) {
                    watchers.remove(one);
                }
                if (set || !watchers.isEmpty()) {
                    return;
                }
                over = true;
            }
            kind.remove(path, this);
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() == Event.EventType.None) {
                return;
            }
            List<Watcher> all;
            synchronized (this) {
                over = true;
                all = List.copyOf(watchers);
                watchers.clear();
            }
            kind.remove(path, this);
            all.forEach(one -> one.process(event));
        }
    }
}
