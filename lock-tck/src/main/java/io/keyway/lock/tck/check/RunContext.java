// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What all checks of one run share.
 *
 * @param subject what is tested
 * @param config how
 * @param url of the subject
 * @param features what it declares
 * @param guarantees what it promises
 * @param reach who can share its locks
 * @param overBackend whether its clients are built over a {@code LockBackend}
 * @param options the names of those that its provider takes beside the common ones
 * @param place where a check may change the store for good
 * @param links what is known of its links
 * @param killed whether a check of the run has killed its server
 * @param clock of all checks
 * @param word a word that no other run uses: the first segment of every name
 */
record RunContext(
        TckSubject subject,
        TckConfig config,
        LockUrl url,
        Set<Feature> features,
        Guarantees guarantees,
        Scope reach,
        boolean overBackend,
        Set<String> options,
        TestPlace place,
        Links links,
        AtomicBoolean killed,
        CheckClock clock,
        String word) {
    RunContext {
        Objects.requireNonNull(subject, "subject");
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(url, "url");
        features = Set.copyOf(features);
        options = Set.copyOf(options);
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(guarantees, "guarantees");
        Objects.requireNonNull(reach, "reach");
        Objects.requireNonNull(links, "links");
        Objects.requireNonNull(killed, "killed");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(word, "word");
    }

    /** The same with twice the time factor, for a machine that stalled. */
    RunContext slower() {
        TckConfig stretched = config.withTimeFactor(Math.min(100, 2 * config.timeFactor()));
        return new RunContext(
                subject,
                stretched,
                url,
                features,
                guarantees,
                reach,
                overBackend,
                options,
                place,
                links,
                killed,
                clock,
                word);
    }

    /** Opens a client with that between it and what its provider built it on; throws while this JVM ends. */
    LockClient open(LockUrl where, ClientOptions options, Interceptor between) {
        return place.open(() -> Locks.open(where, options, subject.loader(), between));
    }

    /** Whether a proxy can stand between a client and the servers of the URL. */
    boolean hasProxies() {
        boolean named = !url.isOpaque() && !url.hosts().isEmpty();
        boolean led = !subject.servers().isEmpty() && subject.addresses().isPresent();
        return (named || led) && !clock.isVirtual() && reach == Scope.NETWORK;
    }

    /** The options of a check's client: on a slow machine a request may take longer too, unless its time is given. */
    ClientOptions paced(ClientOptions options) {
        Option<Duration> limit = CommonOptions.REQUEST_TIMEOUT;
        boolean given = options.get(limit).isPresent() || url.options().containsKey(limit.name());
        Duration least = limit.defaultValue().orElseThrow();
        return given || config.timeFactor() <= 1 ? options : options.withRequestTimeout(stretched(least));
    }

    /** A ttl that is short and that the subject takes. */
    Duration ttl() {
        return ttl(config.timeFactor());
    }

    /** As {@link #ttl()}, however slow the machine is. */
    Duration shortestTtl() {
        return ttl(1);
    }

    private Duration ttl(double factor) {
        Duration wanted = clock.isVirtual() ? Duration.ofSeconds(4) : Duration.ofMillis((long) (1200 * factor));
        // Who counts in whole seconds grants no other ttl.
        boolean seconds =
                guarantees.minTtl().toMillis() >= 1000 && guarantees.minTtl().toMillis() % 1000 == 0;
        Duration counted = seconds ? Duration.ofSeconds(wanted.plusMillis(999).toSeconds()) : wanted;
        return within(guarantees, counted);
    }

    /** The nearest ttl that the provider grants. */
    static Duration within(Guarantees guarantees, Duration wanted) {
        Duration least = guarantees.minTtl();
        Duration most = guarantees.maxTtl();
        Duration raised = wanted.compareTo(least) < 0 ? least : wanted;
        return raised.compareTo(most) > 0 ? most : raised;
    }

    /** How long something that must happen may take; ten times what it takes on a slow machine. */
    Duration patience() {
        Duration terms = ttl().multipliedBy(10);
        Duration least = stretched(Duration.ofSeconds(15));
        return clock.isVirtual() || terms.compareTo(least) > 0 ? terms : least;
    }

    private Duration stretched(Duration time) {
        return Duration.ofNanos((long) (time.toNanos() * config.timeFactor()));
    }
}
