// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.wrap.ForwardingClient;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/** Defects in how a client ends. */
final class CloseMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.client(
                    "42", "close-leaks-thread", "a thread of the client goes on after close", "LK-1004", Leaky::new),
            Mutant.client(
                    "42b", "close-keeps-locks", "close ends the client and releases nothing", "LK-1003", Abrupt::new),
            Mutant.client(
                    "43", "open-after-close", "close gives the locks back, and ends nothing", "LK-1002", Immortal::new),
            Mutant.client(
                    "141",
                    "close-stops-half-way",
                    "close throws, and ends nothing, if a step of it fails",
                    "LK-1001",
                    Brittle::new),
            Mutant.client(
                    "141b",
                    "async-throws",
                    "an asynchronous acquire throws if its request cannot be sent",
                    "LK-314",
                    Throwing::new));

    private CloseMutants() {}

    private static final class Leaky extends ForwardingClient {
        Leaky(LockClient to, TimeSource clock) {
            super(to);
            Thread thread = new Thread(Leaky::run, "keyway-" + to.name() + "-watch");
            thread.setDaemon(true);
            thread.start();
        }

        private static void run() {
            while (!Thread.interrupted()) {
                LockSupport.park();
            }
        }
    }

    private static final class Abrupt extends ForwardingClient {
        Abrupt(LockClient to, TimeSource clock) {
            super(to);
        }

        @Override
        public void close() {
            to().unwrap(ReferenceFaults.class).cut(true);
            super.close();
        }
    }

    private static LockUnavailableException unheard(LockClient client) {
        return new LockUnavailableException(
                "the store is not heard", null, client.url().toString(), null);
    }

    private static boolean isCut(LockClient client) {
        return !client.unwrap(ReferenceFaults.class).isWhole();
    }

    private static final class Brittle extends ForwardingClient {
        Brittle(LockClient to, TimeSource clock) {
            super(to);
        }

        @Override
        public void close() {
            if (isCut(to())) {
                throw unheard(to());
            }
            super.close();
        }
    }

    private static final class Throwing extends AlteredClient {
        private final LockClient client;

        Throwing(LockClient to, TimeSource clock) {
            super(to, lease -> lease);
            this.client = to;
        }

        @Override
        DistributedLock altered(DistributedLock lock) {
            return new Lock(lock) {
                @Override
                public CompletableFuture<Lease> acquireAsync() {
                    if (isCut(client)) {
                        throw unheard(client);
                    }
                    return super.acquireAsync();
                }
            };
        }
    }

    private static final class Immortal extends AlteredClient {
        private final Queue<Lease> given;

        Immortal(LockClient to, TimeSource clock) {
            this(to, new ConcurrentLinkedQueue<>());
        }

        private Immortal(LockClient to, Queue<Lease> given) {
            super(to, lease -> {
                given.add(lease);
                return lease;
            });
            this.given = given;
        }

        @Override
        public void close() {
            for (Lease lease = given.poll(); lease != null; lease = given.poll()) {
                lease.close();
            }
        }
    }
}
