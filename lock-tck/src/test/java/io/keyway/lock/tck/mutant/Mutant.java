// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.TimeSource;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The reference with one defect.
 *
 * @param number its line in the list of mutants; a letter where one line is several defects
 * @param name how it is opened: {@code lock:mutant://name?clock=manual}
 * @param defect one sentence
 * @param rule the rule that must find it
 * @param store makes its store
 * @param backend makes its way to the store
 * @param client makes its client
 */
record Mutant(
        String number,
        String name,
        String defect,
        String rule,
        StoreMaker store,
        BackendMaker backend,
        ClientMaker client) {

    /** Makes a store; the reference's, or a defective one. */
    @FunctionalInterface
    interface StoreMaker {
        ReferenceStore make(LongSupplier clock, long tokensAbove);
    }

    /** Makes the way of a client to the store. */
    @FunctionalInterface
    interface BackendMaker {
        ReferenceBackend make(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble);
    }

    /** Makes a client that stands before the reference's; {@code clock} is the world's. */
    @FunctionalInterface
    interface ClientMaker {
        LockClient make(LockClient client, TimeSource clock);
    }

    static Mutant store(String number, String name, String defect, String rule, StoreMaker store) {
        return new Mutant(number, name, defect, rule, store, ReferenceBackend::new, (client, clock) -> client);
    }

    static Mutant backend(String number, String name, String defect, String rule, BackendMaker backend) {
        return new Mutant(number, name, defect, rule, ReferenceStore::new, backend, (client, clock) -> client);
    }

    static Mutant client(String number, String name, String defect, String rule, ClientMaker client) {
        return new Mutant(number, name, defect, rule, ReferenceStore::new, ReferenceBackend::new, client);
    }

    /** Where it is opened, on a clock that a test moves. */
    String url() {
        return "lock:mutant://" + name + "?clock=manual";
    }

    /** As {@link #url()}, in another world of that name. */
    String url(String world) {
        return "lock:mutant://" + name + "/" + world + "?clock=manual";
    }

    @Override
    public String toString() {
        return number + " " + name + ": " + defect;
    }
}
