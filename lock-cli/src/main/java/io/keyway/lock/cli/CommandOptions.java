// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Options that a command sets beside the URL, where the provider has them. What the URL says stays. */
final class CommandOptions {
    private final LockUrl url;
    private final Optional<LockProvider> provider;
    private ClientOptions options = ClientOptions.defaults();

    private CommandOptions(LockUrl url, Optional<LockProvider> provider) {
        this.url = url;
        this.provider = provider;
    }

    static CommandOptions of(LockUrl url) {
        return new CommandOptions(
                url,
                Locks.discover(CommandOptions.class.getClassLoader()).providers().stream()
                        .filter(each -> each.schemes().contains(url.provider()))
                        .findFirst());
    }

    /** How URLs begin whose locks other processes share and have that feature. */
    static List<String> providersWith(Feature feature, LockUrl except) {
        Set<String> found = new TreeSet<>();
        for (LockProvider each :
                Locks.discover(CommandOptions.class.getClassLoader()).providers()) {
            String scheme = new TreeSet<>(each.schemes()).first();
            // A driver's URL has a driver.
            String driver = scheme.equals("jdbc") ? ":" + each.protocols().get(0) : "";
            LockUrl any = LockUrl.parse("lock:" + scheme + driver + "://x");
            boolean another = !scheme.equals(except.provider())
                    || (driver.isEmpty() && !any.protocol().equals(except.protocol()));
            if (another && each.scope(any) != Scope.JVM && each.features(any).contains(feature)) {
                found.add("lock:" + scheme + ":");
            }
        }
        return List.copyOf(found);
    }

    /** Who shares these locks; the network where no provider says it. */
    Scope reach() {
        return provider.map(each -> each.scope(url)).orElse(Scope.NETWORK);
    }

    /** The secret of a cluster, from the environment, so that it need not stand on a command line. */
    CommandOptions secret(Optional<String> secret) {
        if (!url.hosts().isEmpty()
                && !url.options().containsKey("secret")
                && !url.options().containsKey("secretFile")) {
            secret.ifPresent(text -> option("secret").ifPresent(option -> parse(option, text)));
        }
        return this;
    }

    /** Who serves the machine when nobody does. */
    CommandOptions host(String who) {
        if (url.protocol().equals(Optional.of("local")) && !url.options().containsKey("host")) {
            option("host").ifPresent(option -> parse(option, who));
        }
        return this;
    }

    /**
     * The byte of a second process that must be dead before the client counts as dead; it also says that there is
     * something to stop before a broken lock is somebody else's.
     */
    CommandOptions guard(long position) {
        option("guard").ifPresent(option -> set(option, position));
        return this;
    }

    ClientOptions options() {
        return options;
    }

    private Optional<Option<?>> option(String name) {
        return provider.flatMap(each -> each.info().options().stream()
                .filter(option -> option.name().equals(name))
                .findFirst());
    }

    private <T> void parse(Option<T> option, String text) {
        options = options.with(option, option.parse(text));
    }

    private <T> void set(Option<T> option, Object value) {
        options = options.with(option, option.type().cast(value));
    }
}
