// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Opens clients. Holds no state: each call looks for providers anew. Thread-safe.
 *
 * <pre>{@code
 * try (LockClient client = Locks.open("lock:redis://cache:6379?ttl=15s&require=fencing")) {
 *     ...
 * }
 * }</pre>
 *
 * <p>With {@code connect=lazy}, the default, opening waits for nothing: a store that cannot be reached is noticed by
 * the first request. Rules LK-208 to LK-212.
 */
public final class Locks {
    private Locks() {}

    /**
     * As {@link #open(LockUrl, ClientOptions)}, with the URL as text and no options.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @return the client; close it when it is not needed any more
     */
    public static LockClient open(String url) {
        return open(LockUrl.parse(url));
    }

    /**
     * As {@link #open(LockUrl, ClientOptions)}, with the URL as text.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @param options what to set in code; it wins over the URL
     * @return the client; close it when it is not needed any more
     */
    public static LockClient open(String url, ClientOptions options) {
        return open(LockUrl.parse(url), options);
    }

    /**
     * As {@link #open(LockUrl, ClientOptions)}, with no options.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @return the client; close it when it is not needed any more
     */
    public static LockClient open(LockUrl url) {
        return open(url, ClientOptions.defaults());
    }

    /**
     * As {@link #open(LockUrl, ClientOptions, ClassLoader)}, with the context class loader.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @param options what to set in code; it wins over the URL
     * @return the client; close it when it is not needed any more
     */
    public static LockClient open(LockUrl url, ClientOptions options) {
        return open(url, options, Providers.defaultLoader());
    }

    /**
     * Opens a client with the provider that {@code loader}, or else our own class loader, finds for the URL.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @param options what to set in code; it wins over the URL
     * @param loader where providers, and their drivers, are looked for first
     * @return the client; close it when it is not needed any more
     * @throws InvalidLockUrlException if the provider does not take the URL or one of its options
     * @throws ProviderNotFoundException if no provider, or more than one, takes URLs of that scheme, or if a library
     *     that the provider needs is missing or too old
     * @throws UnsupportedFeatureException if the provider does not declare what {@code require} names
     * @throws LockUnavailableException with {@code connect=eager}, if the store cannot be reached
     * @throws IllegalArgumentException if {@code options} has an option that the provider does not take
     */
    public static LockClient open(LockUrl url, ClientOptions options, ClassLoader loader) {
        return open(url, options, loader, Interceptor.NOTHING);
    }

    /**
     * As {@link #open(LockUrl, ClientOptions, ClassLoader)}, for tests.
     *
     * @param url the URL; as text it is parsed by {@link LockUrl#parse}
     * @param options what to set in code; it wins over the URL
     * @param loader where providers, and their drivers, are looked for first
     * @param between what to put between the client and what its provider builds it on
     * @return the client; close it when it is not needed any more
     */
    public static LockClient open(LockUrl url, ClientOptions options, ClassLoader loader, Interceptor between) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(between, "between");
        LockProvider provider = Providers.find(url, Objects.requireNonNull(loader, "loader"));
        List<Option<?>> known = new ArrayList<>(CommonOptions.ALL);
        known.addAll(provider.info().options());
        url.check(known);
        options.check(known);
        Requirements required = setting(CommonOptions.REQUIRE, url, options);
        refuse(url, required.missingFeatures(provider.features(url)));
        LockClient client = open(provider, url, options, loader, between);
        try {
            refuse(url, required.missing(client.features(), client.guarantees()));
            return client;
        } catch (RuntimeException | Error e) {
            client.close();
            throw e;
        }
    }

    /**
     * Looks for providers with {@code loader}, then with our own class loader.
     *
     * @param loader where providers, and their drivers, are looked for first
     * @return what can be used, and what cannot and why
     */
    public static Discovery discover(ClassLoader loader) {
        return Providers.discover(Objects.requireNonNull(loader, "loader"));
    }

    private static LockClient open(
            LockProvider provider, LockUrl url, ClientOptions options, ClassLoader loader, Interceptor between) {
        String name = setting(CommonOptions.NAME, url, options);
        SystemTime time = new SystemTime(name);
        try {
            return provider.open(new OpenRequest(url, options.withName(name), loader, time, between));
        } catch (RuntimeException | Error e) {
            time.close();
            throw e;
        }
    }

    private static <T> T setting(Option<T> option, LockUrl url, ClientOptions options) {
        return options.get(option)
                .or(() -> url.option(option))
                .or(option::defaultValue)
                .orElseThrow();
    }

    private static void refuse(LockUrl url, List<String> missing) {
        if (!missing.isEmpty()) {
            throw UnsupportedFeatureException.required("The provider of " + url
                    + " does not declare what the option require asks for: " + String.join(", ", missing)
                    + ". Choose another provider, or ask for less.");
        }
    }
}
