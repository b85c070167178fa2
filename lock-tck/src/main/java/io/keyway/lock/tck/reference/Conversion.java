// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** How a holder changes its mode, as {@link io.keyway.lock.spi.LockBackend#convert} says. */
final class Conversion {

    private Conversion() {}

    static Attempt attempt(StoreRules rules, LockEntry entry, Session session, Grant held, Request wanted, long now) {
        Place converted = entry.holder(session, wanted.id());
        if (converted != null && converted.broken == null) {
            converted.expires = rules.expiry(wanted, true, now);
            return new Attempt.Granted(converted.grant());
        }
        Place holder = entry.holder(session, held);
        Place waiter = entry.upgrade();
        if (holder == null || holder.broken != null || (waiter != null && !waiter.isOf(session, wanted.id()))) {
            return new Attempt.Refused(entry.owners());
        }
        if (wanted.mode() == LockMode.EXCLUSIVE && entry.holders().size() > 1) {
            if (wanted.queue()) {
                if (waiter == null) {
                    waiter = new Place(session, wanted, now);
                    entry.awaitUpgrade(waiter, holder);
                }
                waiter.expires = rules.expiry(wanted, false, now);
            }
            return waiting(rules, entry, waiter, wanted);
        }
        entry.leave(session, wanted.id());
        holder.become(wanted, rules.nextToken(session, wanted.key()));
        holder.expires = rules.expiry(wanted, true, now);
        return new Attempt.Granted(holder.grant());
    }

    static Attempt waiting(StoreRules rules, LockEntry entry, @Nullable Place waiter, Request request) {
        return new Attempt.Waiting(rules.recheckWithin(request), OptionalInt.of(entry.ahead(waiter)), entry.owners());
    }

    /** The place of what was broken stands until its holder's word or its end. */
    static Attempt broken(StoreRules rules, LockEntry entry, Place holder, Request request) {
        return new Attempt.Waiting(
                rules.recheckWithin(request), OptionalInt.empty(), entry.owners(), Optional.of(holder.grant()));
    }
}
