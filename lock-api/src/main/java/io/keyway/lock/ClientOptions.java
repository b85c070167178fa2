// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * How a client is opened. Immutable; laid over the URL, under the options of a single lock. What a URL cannot say, such
 * as a {@code DataSource}, is set here.
 *
 * <pre>{@code
 * LockClient client = Locks.open(url, ClientOptions.defaults()
 *         .withName("billing@" + host)
 *         .withDefaults(LockOptions.none().withTtl(Duration.ofSeconds(15))));
 * }</pre>
 */
public final class ClientOptions {
    private static final ClientOptions DEFAULTS = new ClientOptions(Map.of(), LockOptions.none(), null);

    private final Map<String, Setting<?>> settings;
    private final LockOptions defaults;
    private final @Nullable Executor eventExecutor;

    private record Setting<T>(Option<T> option, T value) {}

    private ClientOptions(Map<String, Setting<?>> settings, LockOptions defaults, @Nullable Executor eventExecutor) {
        this.settings = settings;
        this.defaults = defaults;
        this.eventExecutor = eventExecutor;
    }

    /** {@return options that leave everything to the URL and the defaults} */
    public static ClientOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the name by which others see the client.
     *
     * @param name 1 to 200 characters, not all blank, without control characters
     * @return a copy with that name
     */
    public ClientOptions withName(String name) {
        return with(CommonOptions.NAME, name);
    }

    /**
     * Sets the options that every lock of the client starts from.
     *
     * @param defaults what a lock has unless its own options say otherwise
     * @return a copy with those defaults
     */
    public ClientOptions withDefaults(LockOptions defaults) {
        return new ClientOptions(settings, Objects.requireNonNull(defaults, "defaults"), eventExecutor);
    }

    /**
     * Sets where listeners and dependents of futures run; without it the client has a thread of its own for them.
     *
     * @param executor runs what it is given soon, in any thread; it is the application's, and close does not end it.
     *     One that runs tasks in the calling thread lends listeners the threads of this client: they must not wait then
     * @return a copy with that executor
     */
    public ClientOptions withEventExecutor(Executor executor) {
        return new ClientOptions(settings, defaults, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * Sets how long one request to the store may take: the bound of a try without a wait, of a release, and of each
     * question. It does not bound {@link DistributedLock#acquire()}, which asks again. 2 s unless set.
     *
     * @param timeout 10ms to 10m
     * @return a copy with that timeout
     */
    public ClientOptions withRequestTimeout(Duration timeout) {
        return with(CommonOptions.REQUEST_TIMEOUT, timeout);
    }

    /**
     * Sets any option.
     *
     * @param <T> the type of the option's values
     * @param option the option, common or of the provider
     * @param value its value
     * @return a copy with that value
     * @throws IllegalArgumentException if the value is outside the option's bounds
     */
    public <T> ClientOptions with(Option<T> option, T value) {
        option.check(Objects.requireNonNull(value, option.name()));
        Map<String, Setting<?>> copy = new TreeMap<>(settings);
        copy.put(option.name(), new Setting<>(option, value));
        return new ClientOptions(Collections.unmodifiableMap(copy), defaults, eventExecutor);
    }

    /**
     * {@return what was set}
     *
     * @param <T> the type of the option's values
     * @param option the option, common or of the provider
     * @throws IllegalArgumentException if an option of that name, but of another type was set
     */
    public <T> Optional<T> get(Option<T> option) {
        Setting<?> setting = settings.get(option.name());
        if (setting == null) {
            return Optional.empty();
        }
        if (!option.type().isInstance(setting.value())) {
            throw new IllegalArgumentException("option " + option.name() + " was set with a value of the type "
                    + setting.value().getClass().getName() + ", but takes a "
                    + option.type().getName());
        }
        return Optional.of(option.type().cast(setting.value()));
    }

    /**
     * Returns normally if every option that was set is one of {@code known}.
     *
     * @param known the options that the provider takes, the common ones included
     * @throws IllegalArgumentException if not; the message names the nearest known one
     */
    public void check(Collection<Option<?>> known) {
        List<String> names = known.stream().map(Option::name).sorted().toList();
        for (String name : settings.keySet()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException("The client option " + name + " is not known to this provider; did"
                        + " you mean " + Suggestion.of(name, names) + "? Known are " + String.join(", ", names) + ".");
            }
        }
    }

    /** {@return the options that every lock of the client starts from} */
    public LockOptions lockDefaults() {
        return defaults;
    }

    /** {@return where listeners and dependents of futures run, if set} */
    public Optional<Executor> eventExecutor() {
        return Optional.ofNullable(eventExecutor);
    }

    /** Returns what is set, secrets masked. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("ClientOptions{");
        settings.forEach((name, setting) ->
                out.append(name).append('=').append(shown(setting)).append(", "));
        return out.append("defaults=").append(defaults).append('}').toString();
    }

    private static <T> String shown(Setting<T> setting) {
        return setting.option().secret() ? Secrets.MASK : setting.option().format(setting.value());
    }
}
