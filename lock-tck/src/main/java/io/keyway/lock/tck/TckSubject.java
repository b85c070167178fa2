// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Election;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockSet;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.ReentrantLocks;
import io.keyway.lock.Subscription;
import io.keyway.lock.TransactionOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is tested: a URL, and what else the author can do to the store behind it. Only the URL is needed; each control
 * unlocks checks that are NOT RUN without it. Immutable.
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

    /** Makes the locks of a client re-entrant by thread and name. */
    @FunctionalInterface
    public interface Reentrance {
        /** Returns the locks, which give leases. */
        ReentrantLocks over(LockClient client);
    }

    /** Takes several locks of a client at once. */
    @FunctionalInterface
    public interface Several {
        /** Returns the set of locks of those names. */
        LockSet over(LockClient client, List<LockName> names);
    }

    /** Elects leaders. */
    @FunctionalInterface
    public interface Elections {
        /** Returns the election of that name among the candidates of all clients. */
        Election over(LockClient client, LockName name);
    }

    /** Watches locks. */
    @FunctionalInterface
    public interface Watches {
        /** As {@link LockClient#watch(LockKey, Duration, Consumer)}. */
        Subscription over(LockClient client, LockKey key, Duration every, Consumer<LockSnapshot> listener);
    }

    /** Begins transactions. */
    @FunctionalInterface
    public interface Transactions {
        /** Returns a transaction of that client. */
        LockTransaction over(LockClient client, TransactionOptions options);
    }

    /** What protects a resource from late holders. */
    @FunctionalInterface
    public interface Guard {
        /** Whether an effect under that token may happen, none having been admitted under a higher one of that name. */
        boolean admits(LockName name, long token);
    }

    /** Counts what the store keeps: keys, nodes, rows, whatever it is made of. */
    @FunctionalInterface
    public interface Footprint {
        /** Returns how many there are now, of all names. */
        long count() throws Exception;
    }

    /**
     * Breaks the link of one client, where no proxy can stand: for subjects within this JVM. Other clients are not
     * affected.
     */
    public interface Links {
        /**
         * While cut, no request of this client arrives at the store and no answer or signal at the client; nobody is
         * told.
         */
        void cut(LockClient client, boolean cut) throws Exception;

        /** While lost, the store carries out what this client asks, and no answer arrives; nobody is told. */
        void loseReplies(LockClient client, boolean lost) throws Exception;

        /**
         * As {@link #loseReplies} from some call on: so many answers arrive first. For checks that lose the answer to
         * each step of a verb in turn.
         *
         * @return false if that cannot be done
         */
        default boolean loseRepliesAfter(LockClient client, int answers) throws Exception {
            return false;
        }

        /**
         * The connection breaks, which both sides notice, and can be made again at once; returns false if that cannot
         * be done.
         */
        default boolean reset(LockClient client) throws Exception {
            return false;
        }
    }

    /** Gives the URL that a client behind proxies uses. */
    @FunctionalInterface
    public interface AddressMap {
        /** Returns the URL of a client that reaches each key, {@code host:port} of a server, at its value. */
        String url(Map<String, String> proxies);
    }

    private final String url;
    // Set before the object leaves the method that makes it, never after.
    private ClassLoader loader;
    private @Nullable Control kill;
    private @Nullable Control restart;
    private @Nullable Control pause;
    private @Nullable Control resume;
    private @Nullable Advance advance;
    private @Nullable AddressMap addresses;
    private List<String> servers = List.of();
    private @Nullable Links links;
    private @Nullable Footprint footprint;
    private boolean throwaway;
    private Adapter adapter;
    private Reentrance reentrance;
    private Several several;
    private Elections elections;
    private Watches watches;
    private Transactions transactions;
    private Supplier<Guard> guard;

    private TckSubject(String url, ClassLoader loader) {
        this.url = url;
        this.loader = loader;
        this.adapter = JavaLocks::reentrant;
        this.reentrance = JavaLocks::reentrant;
        this.several = LockClient::locks;
        this.elections = LockClient::election;
        this.watches = LockClient::watch;
        this.transactions = LockClient::transaction;
        this.guard = () -> FenceGuard.inMemory()::admits;
    }

    private TckSubject copy() {
        TckSubject copy = new TckSubject(url, loader);
        copy.kill = kill;
        copy.restart = restart;
        copy.pause = pause;
        copy.resume = resume;
        copy.advance = advance;
        copy.addresses = addresses;
        copy.servers = servers;
        copy.links = links;
        copy.footprint = footprint;
        copy.throwaway = throwaway;
        copy.adapter = adapter;
        copy.reentrance = reentrance;
        copy.several = several;
        copy.elections = elections;
        copy.watches = watches;
        copy.transactions = transactions;
        copy.guard = guard;
        return copy;
    }

    /** A subject at that URL, its provider found by the context class loader. */
    public static TckSubject of(String url) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context == null ? TckSubject.class.getClassLoader() : context;
        return new TckSubject(Objects.requireNonNull(url, "url"), Objects.requireNonNull(loader, "loader"));
    }

    /** The same, its provider found by that loader. */
    public TckSubject withLoader(ClassLoader other) {
        TckSubject copy = copy();
        copy.loader = Objects.requireNonNull(other);
        return copy;
    }

    /**
     * The same, with a server that can be killed and started again.
     *
     * @param killing ends the server as a crash would
     * @param restarting starts it again as its operator would; called after {@code killing} only
     */
    public TckSubject withServer(Control killing, Control restarting) {
        TckSubject copy = copy();
        copy.kill = Objects.requireNonNull(killing);
        copy.restart = Objects.requireNonNull(restarting);
        return copy;
    }

    /** The same, with a server that can be made to stand still, as by SIGSTOP, and to go on. */
    public TckSubject withPause(Control pausing, Control resuming) {
        TckSubject copy = copy();
        copy.pause = Objects.requireNonNull(pausing);
        copy.resume = Objects.requireNonNull(resuming);
        return copy;
    }

    /** The same, on a clock that the TCK moves: checks run one after another, in virtual time. */
    public TckSubject withAdvance(Advance advancing) {
        TckSubject copy = copy();
        copy.advance = Objects.requireNonNull(advancing);
        return copy;
    }

    /** The same, whose servers announce addresses to clients: this says how to lead a client through proxies. */
    public TckSubject withAddressMap(AddressMap map) {
        TckSubject copy = copy();
        copy.addresses = Objects.requireNonNull(map);
        return copy;
    }

    /**
     * The same, whose clients connect to these servers as well as to those of the URL, since they are told of them, or
     * to these only, if the URL is a driver's; links to them can be broken if there is a {@link #withAddressMap} too.
     *
     * @param others each {@code host:port} as it is announced
     */
    public TckSubject withServers(List<String> others) {
        TckSubject copy = copy();
        copy.servers = List.copyOf(others);
        return copy;
    }

    /** The same, whose clients' links can be broken one by one without a proxy. */
    public TckSubject withLinks(Links other) {
        TckSubject copy = copy();
        copy.links = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with a way to count what its store keeps; nobody but the TCK uses the store meanwhile. */
    public TckSubject withFootprint(Footprint counting) {
        TckSubject copy = copy();
        copy.footprint = Objects.requireNonNull(counting);
        return copy;
    }

    /**
     * The same, whose store is for this test alone and thrown away after it: the TCK may change it for good, as by a
     * floor of tokens, which it otherwise does in a place for tests ({@code LockProvider.testUrl}).
     */
    public TckSubject withThrowawayStore() {
        TckSubject copy = copy();
        copy.throwaway = true;
        return copy;
    }

    /** The same, with an adapter of the author's own instead of {@link JavaLocks#reentrant(DistributedLock)}. */
    public TckSubject withAdapter(Adapter other) {
        TckSubject copy = copy();
        copy.adapter = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with re-entrant locks of the author's own instead of {@link JavaLocks#reentrant(LockClient)}. */
    public TckSubject withReentrance(Reentrance other) {
        TckSubject copy = copy();
        copy.reentrance = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with sets of locks of the author's own instead of {@link LockClient#locks(java.util.Collection)}. */
    public TckSubject withSeveral(Several other) {
        TckSubject copy = copy();
        copy.several = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with elections of the author's own instead of {@link LockClient#election(LockName)}. */
    public TckSubject withElections(Elections other) {
        TckSubject copy = copy();
        copy.elections = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with watchers of the author's own instead of {@link LockClient#watch(LockKey, Duration, Consumer)}. */
    public TckSubject withWatches(Watches other) {
        TckSubject copy = copy();
        copy.watches = Objects.requireNonNull(other);
        return copy;
    }

    /** The same, with transactions of the author's own, not of {@link LockClient#transaction(TransactionOptions)}. */
    public TckSubject withTransactions(Transactions other) {
        TckSubject copy = copy();
        copy.transactions = Objects.requireNonNull(other);
        return copy;
    }

    /**
     * The same, with guards of the author's own instead of {@link FenceGuard#inMemory()}; asked for a fresh one for
     * each check.
     */
    public TckSubject withGuard(Supplier<Guard> other) {
        TckSubject copy = copy();
        copy.guard = Objects.requireNonNull(other);
        return copy;
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

    public Optional<Links> links() {
        return Optional.ofNullable(links);
    }

    public Optional<Footprint> footprint() {
        return Optional.ofNullable(footprint);
    }

    public boolean isThrowaway() {
        return throwaway;
    }

    public Adapter adapter() {
        return adapter;
    }

    public Reentrance reentrance() {
        return reentrance;
    }

    public Several several() {
        return several;
    }

    public Elections elections() {
        return elections;
    }

    public Watches watches() {
        return watches;
    }

    public Transactions transactions() {
        return transactions;
    }

    public Supplier<Guard> guard() {
        return guard;
    }

    /** The servers that clients are told of, beside those of the URL. */
    public List<String> servers() {
        return servers;
    }

    public Optional<AddressMap> addresses() {
        return Optional.ofNullable(addresses);
    }
}
