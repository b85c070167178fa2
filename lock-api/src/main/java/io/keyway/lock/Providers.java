// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.Discovery.Failure;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.ProviderInfo;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Collections;
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
    private static final String SERVICES = "META-INF/services/" + LockProvider.class.getName();

    private final List<LockProvider> found = new ArrayList<>();
    private final List<Failure> failures = new ArrayList<>();

    /** By name: a class loader that prefers its own copy still shows the same provider. */
    private final Set<String> seen = new HashSet<>();

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
                        + ". Leave one of them on the class path.",
                null);
    }

    private void look(ClassLoader loader) {
        Iterator<ServiceLoader.Provider<LockProvider>> entries =
                ServiceLoader.load(LockProvider.class, loader).stream().iterator();
        String last = "";
        while (true) {
            try {
                if (!entries.hasNext()) {
                    return;
                }
                take(entries.next());
            } catch (ServiceConfigurationError | LinkageError e) {
                fail(place(loader, String.valueOf(e.getMessage())), e);
                // A class loader that cannot be read fails in the same way at each step.
                if (last.equals(e.getMessage())) {
                    return;
                }
                last = String.valueOf(e.getMessage());
            }
        }
    }

    private void take(ServiceLoader.Provider<LockProvider> entry) {
        String source = SERVICES;
        try {
            Class<?> type = entry.type();
            if (seen.contains(type.getName())) {
                return;
            }
            source = place(type);
            LockProvider provider = entry.get();
            ProviderInfo info = provider.info();
            if (info.apiLevel() != ProviderInfo.API_LEVEL) {
                add(new Failure(
                        place(provider),
                        "was built for level " + info.apiLevel() + " of the SPI, this lock-api has level "
                                + ProviderInfo.API_LEVEL + "; take versions that belong together",
                        Optional.empty()));
            } else if (provider.schemes().isEmpty()) {
                add(new Failure(place(provider), "names no scheme", Optional.empty()));
            } else {
                found.add(provider);
                seen.add(type.getName());
            }
        } catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
            fail(source, e);
        }
    }

    private void fail(String source, Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String reason = String.valueOf(e.getMessage()).replace(LockProvider.class.getName() + ": ", "");
        add(new Failure(source, root.equals(e) ? reason : reason + " (" + root + ")", Optional.of(e)));
    }

    /** What both class loaders show fails once. */
    private void add(Failure failure) {
        if (failures.stream()
                .noneMatch(known -> known.source().equals(failure.source())
                        && known.reason().equals(failure.reason()))) {
            failures.add(failure);
        }
    }

    private static ProviderNotFoundException none(LockUrl url, Discovery discovery) {
        StringBuilder message = new StringBuilder("No provider takes ").append(url);
        List<String> schemes = discovery.providers().stream()
                .flatMap(provider -> provider.schemes().stream())
                .sorted()
                .toList();
        String nearest = Suggestion.of(url.provider(), schemes);
        if (!nearest.isEmpty() && Suggestion.distance(url.provider(), nearest) <= 2) {
            message.append("; did you mean lock:").append(nearest).append('?');
        } else {
            message.append('.');
        }
        message.append(" Found: ").append(discovery.providers().isEmpty() ? "none" : found(discovery));
        if (!discovery.failures().isEmpty()) {
            message.append(". Failed to load: ")
                    .append(discovery.failures().stream()
                            .map(failure -> failure.source() + ": " + failure.reason())
                            .collect(Collectors.joining("; ")));
        }
        message.append(". Add ").append(missing(url.provider())).append(" to the class path.");
        ProviderNotFoundException exception = new ProviderNotFoundException(message.toString(), null);
        discovery.failures().forEach(failure -> failure.cause().ifPresent(exception::addSuppressed));
        return exception;
    }

    private static String missing(String scheme) {
        return switch (scheme) {
            case "native", "redis", "zookeeper" -> "the artifact io.keyway:lock-provider-" + scheme;
            case "rediss" -> "the artifact io.keyway:lock-provider-redis";
            default -> "a provider of lock:" + scheme;
        };
    }

    private static String found(Discovery discovery) {
        return discovery.providers().stream()
                .flatMap(provider -> provider.schemes().stream().sorted())
                .map(scheme -> "lock:" + scheme)
                .collect(Collectors.joining(", "));
    }

    private static String place(LockProvider provider) {
        return place(provider.getClass());
    }

    private static String place(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null || source.getLocation() == null
                ? type.getName()
                : type.getName() + " in " + source.getLocation();
    }

    /** The services file that a failure speaks of, since its message has the class alone. */
    private static String place(ClassLoader loader, String message) {
        try {
            for (URL file : Collections.list(loader.getResources(SERVICES))) {
                URLConnection connection = file.openConnection();
                connection.setUseCaches(false);
                try (InputStream in = connection.getInputStream()) {
                    String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                    if (text.lines().map(String::strip).anyMatch(name -> !name.isEmpty() && message.contains(name))) {
                        return file.toString();
                    }
                }
            }
        } catch (IOException e) {
            // Whatever is the matter with these files: the failure is told all the same.
        }
        return SERVICES;
    }

    private static ClassLoader own() {
        ClassLoader loader = Providers.class.getClassLoader();
        return loader != null ? loader : ClassLoader.getSystemClassLoader();
    }
}
