// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.peer.lease.ManagerWorld.TTL;

import io.keyway.lock.peer.queue.Admission;

/** The manager of one lock, and three clients that say what a test has them say. */
abstract class ThreeClients {
    final ManagerWorld world = new ManagerWorld(Admission.LOCKS);
    final ManagerWorld.Client a = world.client();
    final ManagerWorld.Client b = world.client();
    final ManagerWorld.Client c = world.client();

    /** Lets time pass in which these are heard. */
    final void keepBeating(long nanos, ManagerWorld.Client... clients) {
        for (long left = nanos; left > 0; left -= Math.min(left, TTL / 4)) {
            for (ManagerWorld.Client each : clients) {
                each.beat();
            }
            world.advance(Math.min(left, TTL / 4));
        }
    }
}
