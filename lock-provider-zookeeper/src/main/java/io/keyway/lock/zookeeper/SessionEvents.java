// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.spi.LockBackend;
import java.util.function.Supplier;

/** Tells the kit what befalls the sessions. */
record SessionEvents(RequestNodes places, Supplier<LockBackend.Signals> signals) implements Session.Listener {

    @Override
    public void connected(Session session) {
        signals.get().connected(session.servers());
    }

    @Override
    public void suspended(Session session) {
        String why = "the connection to the ensemble was lost";
        signals.get().disconnected(session.servers(), why);
        signals.get().doubt(why);
    }

    @Override
    public void broken(Session session, long czxid, String reason) {
        places.find(session, czxid).filter(place -> !place.broken).ifPresent(place -> {
            CreatedNode node = place.node();
            if (node != null) {
                place.broken = true;
                signals.get().ended(place.request.key(), place.token(node), LeaseLoss.Cause.BROKEN, reason);
            }
        });
    }

    @Override
    public void ended(Session session, String why) {
        for (RequestNode place : places.removeAll(session)) {
            CreatedNode node = place.node();
            if (node != null && place.held) {
                signals.get().ended(place.request.key(), place.token(node), LeaseLoss.Cause.EXPIRED, why);
            }
            signals.get().recheck(place.request.key(), place.request.id());
        }
    }
}
