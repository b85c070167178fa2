// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference.etcd;

import io.keyway.lock.LockClient;
import io.keyway.lock.reference.ManualTime;
import io.keyway.lock.spi.LockBackend;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A server, its clock, and its clients. */
public final class EtcdWorld {

    private static final Duration DELIVERY = Duration.ofSeconds(30);

    private final ManualTime time;
    private final Etcd etcd;
    private final Queue<LockBackend.Signals> clients = new ConcurrentLinkedQueue<>();

    EtcdWorld(ManualTime time) {
        this.time = time;
        this.etcd = new Etcd(time);
    }

    ManualTime time() {
        return time;
    }

    Etcd etcd() {
        return etcd;
    }

    void opened(LockClient client) {
        clients.add(client.unwrap(LockBackend.Signals.class));
    }

    /** Lets so much time pass, and all that it causes happen. */
    public void advance(Duration by) {
        time.advance(by, () -> clients.forEach(client -> client.awaitDelivery(DELIVERY)));
    }

    /** Returns how many keys and leases the server keeps. */
    public long kept() {
        return etcd.kept();
    }
}
