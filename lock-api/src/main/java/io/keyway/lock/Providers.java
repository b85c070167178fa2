// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.ProviderInfo;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;

/** Looks for providers, so that a broken one hides no good one. */
final class Providers {
    /** A services file has few lines; a loader that fails for ever must not hold us for ever. */
    private static final int MAX_FAILURES = 1000;

    private final List<LockProvider> found = new ArrayList<>();
    private final List<Discovery.Failure> failures = new ArrayList<>();
    private final Set<Class<?>> seen = new HashSet<>();

    private Providers() {}

    static ClassLoader defaultLoader() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context != null ? context : own();
    }

    static Discovery discover(ClassLoader loader) {
        Providers providers = new Providers();
        providers.look(loader);
        if (loader != own()) {
            providers.look(own());
        }
        return new Discovery(providers.found, providers.failures);
    }

    static LockProvider find(LockUrl url, ClassLoader loader) {
        Discovery discovery = discover(loader);
        List<LockProvider> matches = discovery.providers().stream()
                .filter(provider -> provider.schemes().contains(url.provider()))
                .toList();
        if (matches.size() == 1) {
            return matches.get(0);
        }
        if (matches.isEmpty()) {
            throw none(url, discovery);
        }
        throw new ProviderNotFoundException(
                "More than one provider takes " + url + ": "
                        + matches.stream().map(Providers::place).collect(Collectors.joining(" and "))
                        + ". Remove all but one of them from the class path.",
                null);
    }

    private void look(ClassLoader loader) {
        Iterator<ServiceLoader.Provider<LockProvider>> entries =
                ServiceLoader.load(LockProvider.class, loader).stream().iterator();
        int before = failures.size();
        while (failures.size() - before < MAX_FAILURES) {
            ServiceLoader.Provider<LockProvider> entry;
            try {
                if (!entries.hasNext()) {
                    return;
                }
                entry = entries.next();
            } catch (ServiceConfigurationError | LinkageError e) {
                fail("META-INF/services/" + LockProvider.class.getName(), e);
                continue;
            }
            take(entry);
        }
    }

    private void take(ServiceLoader.Provider<LockProvider> entry) {
        String source = "a provider";
        try {
            Class<? extends LockProvider> type = entry.type();
            source = type.getName();
            if (!seen.add(type)) {
                return;
            }
            LockProvider provider = entry.get();
            ProviderInfo info = provider.info();
            if (info.apiLevel() != ProviderInfo.API_LEVEL) {
                failures.add(new Discovery.Failure(
                        place(provider),
                        "was built for API level " + info.apiLevel() + ", this is " + ProviderInfo.API_LEVEL
                                + "; take versions that belong together",
                        Optional.empty()));
                return;
            }
            if (provider.schemes().isEmpty()) {
                failures.add(new Discovery.Failure(place(provider), "names no scheme", Optional.empty()));
                return;
            }
            found.add(provider);
        } catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
            fail(source, e);
        }
    }

    private void fail(String source, Throwable e) {
        Throwable cause = e instanceof ServiceConfigurationError && e.getCause() != null ? e.getCause() : e;
        String reason = cause == e ? String.valueOf(e.getMessage()) : e.getMessage() + " (" + cause + ")";
        failures.add(new Discovery.Failure(source, reason, Optional.of(cause)));
    }

    private static ProviderNotFoundException none(LockUrl url, Discovery discovery) {
        StringBuilder message = new StringBuilder("No provider takes " + url + ". Found: ");
        message.append(
                discovery.providers().isEmpty()
                        ? "none"
                        : discovery.providers().stream()
                                .map(provider ->
                                        "lock:" + String.join(", lock:", provider.schemes()) + " by " + place(provider))
                                .collect(Collectors.joining("; ")));
        if (!discovery.failures().isEmpty()) {
            message.append(". Failed to load: ")
                    .append(discovery.failures().stream()
                            .map(failure -> failure.source() + ": " + failure.reason())
                            .collect(Collectors.joining("; ")));
        }
        message.append(". Add io.keyway:lock-provider-").append(url.provider()).append(" to the class path.");
        ProviderNotFoundException exception = new ProviderNotFoundException(message.toString(), null);
        discovery.failures().forEach(failure -> failure.cause().ifPresent(exception::addSuppressed));
        return exception;
    }

    private static String place(LockProvider provider) {
        CodeSource source = provider.getClass().getProtectionDomain().getCodeSource();
        return provider.getClass().getName()
                + (source == null || source.getLocation() == null ? "" : " in " + source.getLocation());
    }

    private static ClassLoader own() {
        ClassLoader loader = Providers.class.getClassLoader();
        return loader != null ? loader : ClassLoader.getSystemClassLoader();
    }
}
