// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Reach;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code lock:reference://name}: clients of one name share a store in this JVM, until {@link #forget}. With
 * {@code clock=manual} time stands still but for {@link ManualTime#advance}, and the calls of the store run on the
 * threads that cause them. {@code without=fifo,list} takes features away.
 */
public final class ReferenceProvider implements LockProvider {

    /** The clocks. */
    public enum Clock {
        /** The machine's. */
        REAL,
        /** Moved by the test. */
        MANUAL
    }

    /** Which clock; the first client of a name decides. */
    public static final Option<Clock> CLOCK = Option.choice("clock", Clock.class)
            .withDefault(Clock.REAL)
            .withDescription("manual: time stands still until a test moves it");

    /** Features to leave out. */
    public static final Option<String> WITHOUT =
            Option.text("without").withDefault("").withDescription("features to leave out, joined by commas");

    /** What fails. */
    public enum Fail {
        /** Nothing. */
        NOTHING,
        /** The store cannot be reached. */
        START
    }

    /** What fails from the beginning. */
    public static final Option<Fail> FAIL = Option.choice("fail", Fail.class)
            .withDefault(Fail.NOTHING)
            .withDescription("start: the store cannot be reached");

    private static final Map<String, ReferenceStore> STORES = new ConcurrentHashMap<>();

    /** As discovery needs it. */
    public ReferenceProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("reference");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("reference", "1", ProviderInfo.API_LEVEL, List.of(CLOCK, WITHOUT, FAIL));
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = new TreeSet<>(ReferenceBackend.FEATURES);
        Set<String> without = Set.of(url.option(WITHOUT).orElse("").split(","));
        features.removeIf(feature -> without.contains(feature.label()));
        return features;
    }

    @Override
    public Reach reach(LockUrl url) {
        return Reach.JVM;
    }

    @Override
    public LockClient open(OpenRequest request) {
        String name = request.url().toString().replaceAll("[?].*", "");
        boolean manual = request.get(CLOCK) == Clock.MANUAL;
        ReferenceStore store =
                STORES.computeIfAbsent(name, fresh -> new ReferenceStore(manual ? new ManualTime() : request.time()));
        ReferenceBackend backend =
                new ReferenceBackend(store, features(request.url()), request.get(FAIL) == Fail.START);
        if (!manual) {
            return request.over(backend);
        }
        OpenRequest onManualTime =
                new OpenRequest(request.url(), request.options(), request.loader(), store.manualTime());
        return onManualTime.over(backend);
    }

    /** Ends the stores; the next client of a name has an empty one. */
    public static void forget() {
        STORES.clear();
    }
}
