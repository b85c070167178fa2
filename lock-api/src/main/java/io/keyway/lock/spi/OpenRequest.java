// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.kit.Kit;
import io.keyway.lock.kit.Settings;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowStore;
import java.util.Objects;
import java.util.Optional;

/**
 * What a provider opens a client from.
 *
 * @param url the URL, its options checked
 * @param options what the application set in code
 * @param loader where to look for drivers and the like
 * @param time the client's clock and timers; the client that is opened closes it last, if it is AutoCloseable
 * @param between what a test put between the client and its backend or engine; a provider leaves it as it is
 */
public record OpenRequest(
        LockUrl url, ClientOptions options, ClassLoader loader, TimeSource time, Interceptor between) {

    /**
     * Checks that nothing is null.
     *
     * @param url see the record
     * @param options see the record
     * @param loader see the record
     * @param time see the record
     * @param between see the record
     */
    public OpenRequest {
        Objects.requireNonNull(url, "url");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(loader, "loader");
        Objects.requireNonNull(time, "time");
        Objects.requireNonNull(between, "between");
    }

    /**
     * With nothing between the client and what it is built on.
     *
     * @param url the URL, its options checked
     * @param options what the application set in code
     * @param loader where to look for drivers and the like
     * @param time the client's clock and timers
     */
    public OpenRequest(LockUrl url, ClientOptions options, ClassLoader loader, TimeSource time) {
        this(url, options, loader, time, Interceptor.NOTHING);
    }

    /**
     * {@return the same with another clock, for a provider that has one of its own}
     *
     * @param other the clock of the provider
     */
    public OpenRequest withTime(TimeSource other) {
        return new OpenRequest(url, options, loader, other, between);
    }

    /**
     * {@return what code set, else what the URL says, else the default; empty if there is none of these}
     *
     * @param <T> the type of the option's values
     * @param option the option
     */
    public <T> Optional<T> find(Option<T> option) {
        return options.get(option).or(() -> url.option(option)).or(option::defaultValue);
    }

    /**
     * As {@link #find}, for an option that must have a value.
     *
     * @param <T> the type of the option's values
     * @param option the option
     * @return the value
     * @throws io.keyway.lock.InvalidLockUrlException if it has none
     */
    public <T> T get(Option<T> option) {
        return find(option).orElseThrow(() -> url.missing(option));
    }

    /** {@return the name of the client to open} */
    public String clientName() {
        return get(CommonOptions.NAME);
    }

    /**
     * {@return the client that stands on that engine}
     *
     * @param engine what the client is to stand on
     */
    public LockClient over(LockEngine engine) {
        return Kit.open(settings(), between.engine(engine));
    }

    /**
     * {@return the client that stands on that backend}
     *
     * @param backend what the client is to stand on
     */
    public LockClient over(LockBackend backend) {
        return Kit.open(settings(), between.backend(backend));
    }

    /**
     * {@return the client that stands on that store of rows, whose queues are the kit's}
     *
     * @param store what the client is to stand on
     */
    public LockClient over(RowStore store) {
        return over(new RowBackend(store, time::nanoTime));
    }

    private Settings settings() {
        return Settings.of(url, options, time, this::get);
    }
}
