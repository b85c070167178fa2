// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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

    private TckSubject(
            String url,
            ClassLoader loader,
            @Nullable Control kill,
            @Nullable Control restart,
            @Nullable Control pause,
            @Nullable Control resume,
            @Nullable Advance advance,
            @Nullable AddressMap addresses) {
        this.url = url;
        this.loader = loader;
        this.kill = kill;
        this.restart = restart;
        this.pause = pause;
        this.resume = resume;
        this.advance = advance;
        this.addresses = addresses;
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
                null);
    }

    /** The same, its provider found by that loader. */
    public TckSubject withLoader(ClassLoader other) {
        return new TckSubject(url, Objects.requireNonNull(other), kill, restart, pause, resume, advance, addresses);
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
                addresses);
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
                addresses);
    }

    /** The same, on a clock that the kit moves: checks run one after another, in virtual time. */
    public TckSubject withAdvance(Advance advancing) {
        return new TckSubject(url, loader, kill, restart, pause, resume, Objects.requireNonNull(advancing), addresses);
    }

    /** The same, whose servers announce addresses to clients: this says how to lead a client through proxies. */
    public TckSubject withAddressMap(AddressMap map) {
        return new TckSubject(url, loader, kill, restart, pause, resume, advance, Objects.requireNonNull(map));
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

    public Optional<AddressMap> addresses() {
        return Optional.ofNullable(addresses);
    }
}
