// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import java.util.ArrayList;
import java.util.List;

/** Opens clients. Holds no state: each call looks for providers anew. */
public final class Locks {
    private Locks() {}

    /** As {@link #open(LockUrl, ClientOptions)}, with the URL as text and no options. */
    public static LockClient open(String url) {
        return open(LockUrl.parse(url));
    }

    /** As {@link #open(LockUrl, ClientOptions)}, with the URL as text. */
    public static LockClient open(String url, ClientOptions options) {
        return open(LockUrl.parse(url), options);
    }

    /** As {@link #open(LockUrl, ClientOptions)}, with no options. */
    public static LockClient open(LockUrl url) {
        return open(url, ClientOptions.defaults());
    }

    /** Opens a client with the provider that the context class loader, or else our own, finds for the URL. */
    public static LockClient open(LockUrl url, ClientOptions options) {
        return open(url, options, Providers.defaultLoader());
    }

    /**
     * Opens a client with the provider that {@code loader}, or else our own class loader, finds for the URL.
     *
     * @throws InvalidLockUrlException if the provider does not take the URL or one of its options
     * @throws ProviderNotFoundException if no provider, or more than one, takes URLs of that scheme
     * @throws UnsupportedFeatureException if the provider does not declare what {@code require} names
     * @throws LockUnavailableException with {@code connect=eager}, if the store cannot be reached
     * @throws IllegalArgumentException if {@code options} has an option that the provider does not take
     */
    public static LockClient open(LockUrl url, ClientOptions options, ClassLoader loader) {
        LockProvider provider = Providers.find(url, loader);
        List<Option<?>> known = new ArrayList<>(CommonOptions.ALL);
        known.addAll(provider.info().options());
        url.check(known);
        checkKnown(options, known);
        Requirements required = options.get(CommonOptions.REQUIRE)
                .or(() -> url.option(CommonOptions.REQUIRE))
                .orElse(Requirements.NONE);
        refuse(url, required.missingFeatures(provider.features(url)));
        String name = options.get(CommonOptions.NAME)
                .or(() -> url.option(CommonOptions.NAME))
                .or(CommonOptions.NAME::defaultValue)
                .orElseThrow();
        SystemTime time = new SystemTime(name);
        LockClient client;
        try {
            client = provider.open(new OpenRequest(url, options.withName(name), loader, time));
        } catch (Throwable e) {
            time.close();
            throw e;
        }
        List<String> missing = required.missing(client.features(), client.guarantees());
        if (!missing.isEmpty()) {
            client.close();
            refuse(url, missing);
        }
        return client;
    }

    /** Looks for providers with {@code loader}, then with our own class loader. */
    public static Discovery discover(ClassLoader loader) {
        return Providers.discover(loader);
    }

    private static void checkKnown(ClientOptions options, List<Option<?>> known) {
        List<String> names = known.stream().map(Option::name).toList();
        for (String name : options.options().keySet()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException("The client option " + name + " is not known to this provider; did"
                        + " you mean " + Nearest.of(name, names) + "? Known are " + String.join(", ", names));
            }
        }
    }

    private static void refuse(LockUrl url, List<String> missing) {
        if (!missing.isEmpty()) {
            throw new UnsupportedFeatureException(
                    "The provider of " + url + " does not declare what is required: " + String.join(", ", missing)
                            + ". Take another provider, or drop it from require.",
                    (Feature) null);
        }
    }
}
