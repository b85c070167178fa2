// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.spi.TokenFloor;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * {@code lock:reference://name}: locks of one JVM, kept by a store in memory that follows every rule. It is what the
 * kit of tests is tested with, and a model for authors of providers: {@link ReferenceBackend} is the way to the store,
 * and {@link ReferenceStore} what a server would be.
 *
 * <p>Clients of one name share a {@link ReferenceWorld}. With {@code clock=manual} its time stands still but for
 * {@link ReferenceWorld#advance}, and the calls of the store run on the threads that cause them.
 * {@code without=fifo,list} takes features away.
 */
public class ReferenceProvider implements LockProvider {

    /** The clocks. */
    public enum Clock {
        /** The machine's. */
        REAL,
        /** Moved by the test. */
        MANUAL
    }

    /** Which clock; the same for all clients of one world. */
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

    private static final Worlds WORLDS = new Worlds();

    /** As discovery needs it. */
    public ReferenceProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("reference");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo(
                "Keyway reference",
                "0.1.0",
                ProviderInfo.API_LEVEL,
                List.of(CLOCK, WITHOUT, FAIL, CommonOptions.TOKEN_FLOOR));
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = EnumSet.copyOf(ReferenceBackend.FEATURES);
        Set<String> without = Set.of(url.option(WITHOUT).orElse("").split(","));
        features.removeIf(feature -> without.contains(feature.label()));
        return features;
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.JVM;
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        return Optional.of(url.withPath("/" + word));
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl url = request.url();
        if (url.hosts().size() != 1 || url.hosts().get(0).port().isPresent()) {
            throw new InvalidLockUrlException(
                    url + ": a world has one name and no port, as in lock:reference://name?clock=manual");
        }
        String name = url.toString().replaceAll("[?].*", "");
        boolean manual = request.get(CLOCK) == Clock.MANUAL;
        ReferenceWorld world = WORLDS.join(name, manual, (clock, tokensAbove) -> store(url, clock, tokensAbove));
        TimeSource time = world.time(request.time());
        ReferenceBackend backend =
                backend(url, world, time, request.get(FAIL) == Fail.START ? "connection refused" : "");
        backend.giveFloor(TokenFloor.of(request));
        // On the real clock each client has its own; a manual one moves the world and all clients together.
        return request.withTime(time).over(backend);
    }

    /** Makes the store of a world that begins; for stores with a defect. */
    protected ReferenceStore store(LockUrl url, LongSupplier clock, long tokensAbove) {
        return new ReferenceStore(clock, tokensAbove);
    }

    /**
     * Makes one client's way to the store; for backends with a defect. {@code trouble}: why it cannot be reached, or
     * empty.
     */
    protected ReferenceBackend backend(LockUrl url, ReferenceWorld world, TimeSource time, String trouble) {
        return new ReferenceBackend(world, time, features(url), trouble);
    }
}
