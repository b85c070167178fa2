// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One session's way to the rows of the store; an operator has no session. */
record SessionRows(ReferenceStore store, @Nullable Session session) implements RowStore {

    @Override
    public void start(Listener listener, Incarnation client) {
        if (session != null) {
            session.listen(listener);
        }
    }

    @Override
    public Stored read(LockKey key, Deadline deadline) {
        return store.table().read(key);
    }

    @Override
    public Written write(Write write, Deadline deadline) throws NotExecutedException {
        return store.table().write(session, write);
    }

    @Override
    public Page list(String prefix, Optional<String> after, int max, Deadline deadline) {
        return store.table().page(prefix, after, max);
    }

    @Override
    public RowRules rules() {
        return store;
    }

    @Override
    public Set<Feature> features() {
        return ReferenceBackend.FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return ReferenceBackend.GUARANTEES;
    }

    @Override
    public void close() {}
}
