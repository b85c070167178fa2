// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is tested: a URL, and what else the author can do to the store behind it. Only the URL is needed; each control unlocks checks that are NOT RUN without it. Immutable.
 */
public final class TckSubject {

    /** Does something to the server; returns when it is done. */
    @FunctionalInterface
    public interface Control {
        /** Does it. */
        void run() throws Exception;
    }

    /** Moves the subject's clock, and the clock of its clients with it. */
    @FunctionalInterface
    public interface Advance {
        /** Lets so much time pass; returns when all that became due has been done and told. */
        void by(Duration time) throws Exception;
    }

    /** Makes a {@code Lock} of the JDK over a distributed one. */
    @FunctionalInterface
    public interface Adapter {
        /** Returns the lock, bound to threads and re-entrant. */
        Lock over(DistributedLock lock);
    }

    /** What protects a resource from late holders. */
    @FunctionalInterface
    public interface Guard {
        /** Whether an effect under that token may happen, none having been admitted under a higher one of that name. */
        boolean admits(LockName name, long token);
    }

    /** Gives the URL that a client behind proxies uses. */
    @FunctionalInterface
    public interface AddressMap {
        /** Returns the URL of a client that reaches each key, {@code host:port} of a server, at its value. */
        String url(Map<String, String> proxies);
    }

    private final String url;
    private final ClassLoader loader;
    private final @Nullable Control kill;
    private final @Nullable Control restart;
    private final @Nullable Control pause;
    private final @Nullable Control resume;
    private final @Nullable Advance advance;
    private final @Nullable AddressMap addresses;
    private final Adapter adapter;
    private final Supplier<Guard> guard;

    private TckSubject(
            String url,
            ClassLoader loader,
            @Nullable Control kill,
            @Nullable Control restart,
            @Nullable Control pause,
            @Nullable Control resume,
            @Nullable Advance advance,
            @Nullable AddressMap addresses,
            Adapter adapter,
            Supplier<Guard> guard) {
        this.url = url;
        this.loader = loader;
        this.kill = kill;
        this.restart = restart;
        this.pause = pause;
        this.resume = resume;
        this.advance = advance;
        this.addresses = addresses;
        this.adapter = adapter;
        this.guard = guard;
    }

    /** A subject at that URL, its provider found by the context class loader. */
    public static TckSubject of(String url) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? TckSubject.class.getClassLoader() : context;
        return new TckSubject(
                Objects.requireNonNull(url, "url"),
                Objects.requireNonNull(loader, "loader"),
                null,
                null,
                null,
                null,
                null,
                null,
                JavaLocks::reentrant,
                () -> FenceGuard.inMemory()::admits);
    }

    /** The same, its provider found by that loader. */
    public TckSubject withLoader(ClassLoader other) {
        return new TckSubject(
                url, Objects.requireNonNull(other), kill, restart, pause, resume, advance, addresses, adapter, guard);
    }

    /**
     * The same, with a server that can be killed and started again.
     *
     * @param killing ends the server as a crash would
     * @param restarting starts it again as its operator would; called after {@code killing} only
     */
    public TckSubject withServer(Control killing, Control restarting) {
        return new TckSubject(
                url,
                loader,
                Objects.requireNonNull(killing),
                Objects.requireNonNull(restarting),
                pause,
                resume,
                advance,
                addresses,
                adapter,
                guard);
    }

    /** The same, with a server that can be made to stand still, as by SIGSTOP, and to go on. */
    public TckSubject withPause(Control pausing, Control resuming) {
        return new TckSubject(
                url,
                loader,
                kill,
                restart,
                Objects.requireNonNull(pausing),
                Objects.requireNonNull(resuming),
                advance,
                addresses,
                adapter,
                guard);
    }

    /** The same, on a clock that the kit moves: checks run one after another, in virtual time. */
    public TckSubject withAdvance(Advance advancing) {
        return new TckSubject(
                url,
                loader,
                kill,
                restart,
                pause,
                resume,
                Objects.requireNonNull(advancing),
                addresses,
                adapter,
                guard);
    }

    /** The same, whose servers announce addresses to clients: this says how to lead a client through proxies. */
    public TckSubject withAddressMap(AddressMap map) {
        return new TckSubject(
                url, loader, kill, restart, pause, resume, advance, Objects.requireNonNull(map), adapter, guard);
    }

    /** The same, with an adapter of the author's own instead of {@link JavaLocks#reentrant}. */
    public TckSubject withAdapter(Adapter other) {
        return new TckSubject(
                url, loader, kill, restart, pause, resume, advance, addresses, Objects.requireNonNull(other), guard);
    }

    /** The same, with guards of the author's own instead of {@link FenceGuard#inMemory()}; asked for a fresh one for each check. */
    public TckSubject withGuard(Supplier<Guard> other) {
        return new TckSubject(
                url, loader, kill, restart, pause, resume, advance, addresses, adapter, Objects.requireNonNull(other));
    }

    /** The URL, with its secrets. */
    public String url() {
        return url;
    }

    public ClassLoader loader() {
        return loader;
    }

    public Optional<Control> kill() {
        return Optional.ofNullable(kill);
    }

    public Optional<Control> restart() {
        return Optional.ofNullable(restart);
    }

    public Optional<Control> pause() {
        return Optional.ofNullable(pause);
    }

    public Optional<Control> resume() {
        return Optional.ofNullable(resume);
    }

    public Optional<Advance> advance() {
        return Optional.ofNullable(advance);
    }

    public Adapter adapter() {
        return adapter;
    }

    public Supplier<Guard> guard() {
        return guard;
    }

    public Optional<AddressMap> addresses() {
        return Optional.ofNullable(addresses);
    }
}
