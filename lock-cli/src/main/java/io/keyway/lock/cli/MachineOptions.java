// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Option;
import io.keyway.lock.spi.LockProvider;
import java.util.Optional;

/** Options for a client of the locks of this machine; for any other URL nothing is set. What the URL says stays. */
final class MachineOptions {
    private final LockUrl url;
    private final Optional<LockProvider> provider;
    private ClientOptions options = ClientOptions.defaults();

    private MachineOptions(LockUrl url, Optional<LockProvider> provider) {
        this.url = url;
        this.provider = provider;
    }

    static MachineOptions of(LockUrl url) {
        boolean local = url.protocol().equals(Optional.of("local"));
        return new MachineOptions(
                url,
                local
                        ? Locks.discover(MachineOptions.class.getClassLoader()).providers().stream()
                                .filter(each -> each.schemes().contains(url.provider()))
                                .findFirst()
                        : Optional.empty());
    }

    /** Who serves the machine when nobody does. */
    MachineOptions host(String who) {
        if (!url.options().containsKey("host")) {
            option("host").ifPresent(option -> parse(option, who));
        }
        return this;
    }

    /** The byte of a second process that must be dead before the client counts as dead. */
    MachineOptions guard(long position) {
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
