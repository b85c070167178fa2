// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi.naive;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.kit.InlineKit;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code lock:naive://name}: clients of one name share a store in this JVM, until {@link #forget}. With
 * {@code clock=manual} time stands still but for {@link ManualTime#advance}, and the calls of the store run on the
 * threads that cause them. {@code without=fifo,list} takes features away.
 */
public final class NaiveProvider implements LockProvider {

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

    private static final Map<String, NaiveStore> STORES = new ConcurrentHashMap<>();

    @Override
    public Set<String> schemes() {
        return Set.of("naive");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("naive", "1", ProviderInfo.API_LEVEL, List.of(CLOCK, WITHOUT, FAIL));
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = new TreeSet<>(NaiveBackend.FEATURES);
        Set<String> without = Set.of(url.option(WITHOUT).orElse("").split(","));
        features.removeIf(feature -> without.contains(feature.label()));
        return features;
    }

    @Override
    public LockClient open(OpenRequest request) {
        String name = request.url().toString().replaceAll("[?].*", "");
        boolean manual = request.get(CLOCK) == Clock.MANUAL;
        NaiveStore store =
                STORES.computeIfAbsent(name, fresh -> new NaiveStore(manual ? new ManualTime() : request.time()));
        NaiveBackend backend = new NaiveBackend(store, features(request.url()), request.get(FAIL) == Fail.START);
        if (!manual) {
            return request.over(backend);
        }
        OpenRequest onManualTime =
                new OpenRequest(request.url(), request.options(), request.loader(), store.manualTime());
        return InlineKit.open(onManualTime, backend);
    }

    /** Ends the stores; the next client of a name has an empty one. */
    public static void forget() {
        STORES.clear();
    }
}
