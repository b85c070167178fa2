// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.Subscription;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What one listener of a client was told, in order. */
public final class Events {
    private final List<LockEvent> told = new CopyOnWriteArrayList<>();
    private final Subscription subscription;

    Events(LockClient client) {
        subscription = client.addListener(told::add);
    }

    /** Everything up to now. */
    public List<LockEvent> all() {
        return List.copyOf(told);
    }

    /** The types of all events about a lock of that name, in order. */
    public List<LockEvent.Type> of(String name) {
        return told.stream()
                .filter(event ->
                        event.key() != null && event.key().name().value().equals(name))
                .map(LockEvent::type)
                .toList();
    }

    /** How many events of that type came about a lock of that name. */
    public long count(String name, LockEvent.Type type) {
        return of(name).stream().filter(type::equals).count();
    }

    /** Ends it. */
    public Subscription subscription() {
        return subscription;
    }
}
