// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Reach;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.history.Breach;
import io.keyway.lock.tck.history.Recorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One run of one check: hands it clients, names, threads, time and faults, and keeps the history of all that its clients did. Everything it handed out ends with it.
 *
 * <p>Time passes only by {@link #pass}, {@link #until} and {@link Task#get}; in virtual time nothing else moves the clock.
 */
public final class Trial implements AutoCloseable {
    private static final int STEPS = 200;
    private static final long REAL_GRACE = 250_000_000L;
    private static final long POLL = 200_000L;

    private final Place place;
    private final String check;
    private final SplittableRandom random;
    private final Recorder recorder;
    private final List<LockClient> clients = new CopyOnWriteArrayList<>();
    private final List<Task<?>> tasks = new CopyOnWriteArrayList<>();
    private final List<AutoCloseable> instruments = new CopyOnWriteArrayList<>();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private final AtomicInteger names = new AtomicInteger();
    private final int attempt;
    private volatile boolean serverHurt;

    Trial(Place place, String check, int attempt) {
        this.place = place;
        this.check = check;
        this.attempt = attempt;
        this.random = new SplittableRandom(place.config().seed() * 31 + check.hashCode() + 7L * attempt);
        this.recorder = new Recorder(place.clock()::now);
    }

    // What the subject is

    public Profile profile() {
        return place.config().profile();
    }

    public TckSubject subject() {
        return place.subject();
    }

    public LockUrl url() {
        return place.url();
    }

    public Guarantees guarantees() {
        return place.guarantees();
    }

    public Reach reach() {
        return place.reach();
    }

    public boolean has(Feature feature) {
        return place.features().contains(feature);
    }

    /** How often something is repeated, by profile. */
    public int rounds(int smoke, int quick, int full) {
        return switch (profile()) {
            case SMOKE -> smoke;
            case QUICK -> quick;
            case FULL -> full;
        };
    }

    /** Random choices of this check; the same for the same seed. For one thread. */
    public SplittableRandom random() {
        return random;
    }

    // Clients and names

    /** A new client, called by its role in the check; closed at the end. What it does is recorded. */
    public LockClient client(String role) {
        return client(role, ClientOptions.defaults());
    }

    /** As {@link #client(String)}, with these options. Its locks have the ttl of the check unless the options say otherwise. */
    public LockClient client(String role, ClientOptions options) {
        return client(role, options, place.url());
    }

    /** As {@link #client(String, ClientOptions)}, at another URL. */
    public LockClient client(String role, ClientOptions options, LockUrl where) {
        LockClient opened = place.open(where, named(role, options));
        LockClient recorded = recorder.record(role, opened);
        clients.add(recorded);
        return recorded;
    }

    /** Options as {@link #client(String, ClientOptions)} uses them. */
    ClientOptions named(String role, ClientOptions options) {
        ClientOptions terms = options.withDefaults(terms().overlaidBy(options.lockDefaults()));
        return terms.get(io.keyway.lock.CommonOptions.NAME).isPresent() ? terms : terms.withName("tck-" + role);
    }

    /** The name of the lock that this check is about; no other check uses it. */
    public String name() {
        return prefix() + "/lock";
    }

    /** Another name of this check's own, the same for the same suffix. */
    public String name(String suffix) {
        return prefix() + "/" + suffix;
    }

    /** A name that was not used before. */
    public String freshName() {
        return prefix() + "/n" + names.incrementAndGet();
    }

    /** What all names of this check begin with, and no others. */
    public String prefix() {
        return "tck/" + place.run() + "/" + check.replace('/', '-') + "-" + attempt;
    }

    /** The key of a lock of that name. */
    public LockKey key(String name) {
        return LockKey.lock(LockName.of(name));
    }

    /** The subject's URL with one more option. */
    public LockUrl urlWith(String option, String value) {
        String text = place.url().reveal();
        if (!place.url().isOpaque()) {
            return LockUrl.parse(text + (text.contains("?") ? "&" : "?") + option + "=" + value);
        }
        // Some drivers separate their parameters by semicolons.
        String mark = text.contains("?") ? "&" : text.contains(";") ? ";" : "?";
        return LockUrl.parse(text + mark + "lock." + option + "=" + value);
    }

    /** Opens a client that is not recorded and that the check closes itself; its locks have the ttl of the check. */
    public LockClient openUnrecorded(LockUrl where, ClientOptions options) {
        return place.open(where, named("unrecorded", options));
    }

    /** Opens a client with these options and no others; not recorded, and the check closes it itself. */
    public LockClient openBare(LockUrl where, ClientOptions options) {
        return place.open(where, options);
    }

    /** Collects what a client tells its listeners from now on. */
    public Events events(LockClient client) {
        return new Events(client);
    }

    /** The authority's view of a lock; needs LIST. */
    public LockStatus status(LockClient client, LockKey key) throws InterruptedException {
        return client.admin().show(key).orElse(new LockStatus(key, List.of(), List.of()));
    }

    /** Lets time pass until so many wait for the lock; without LIST, a quarter of a ttl. */
    public void untilWaiting(LockClient client, String name, int waiters) throws InterruptedException {
        if (has(Feature.LIST)) {
            until(
                    waiters + " wait for the lock",
                    () -> status(client, key(name)).waiters().size() >= waiters);
        } else {
            pass(ttl(1, 4));
        }
    }

    // Terms and time

    /** A short term that the subject takes. */
    public Duration ttl() {
        return place.ttl();
    }

    /** That part of {@link #ttl()}. */
    public Duration ttl(int times, int by) {
        return ttl().multipliedBy(times).dividedBy(by);
    }

    /** Lock options with {@link #ttl()}. */
    public LockOptions terms() {
        return LockOptions.none().withTtl(ttl());
    }

    /** How long something that must happen may take: a bound for liveness, never a measure. */
    public Duration patience() {
        return place.patience();
    }

    /** The check's clock, in nanoseconds; compare by difference. */
    public long now() {
        return place.clock().now();
    }

    public boolean isVirtual() {
        return place.clock().isVirtual();
    }

    /** Lets so much time pass. In virtual time all that comes due has been done when it returns, on the threads of tasks too. */
    public void pass(Duration time) throws InterruptedException {
        settle();
        place.clock().pass(time);
        settle();
    }

    /** Lets time pass until {@link #now()} shows that reading, if it does not yet. */
    public void passUntil(long reading) throws InterruptedException {
        long left = reading - now();
        if (left > 0) {
            pass(Duration.ofNanos(left));
        }
    }

    /** Lets time pass until the condition holds; fails the check if it does not within {@link #patience()}. */
    public void until(String what, Callable<Boolean> condition) throws InterruptedException {
        until(what, patience(), condition);
    }

    /** Lets time pass until the condition holds; fails the check if it does not within that time. */
    public void until(String what, Duration limit, Callable<Boolean> condition) throws InterruptedException {
        if (!happens(limit, condition)) {
            throw CheckFailure.of("within " + text(limit) + " it did not happen that " + what, null);
        }
    }

    /** Lets time pass until the condition holds or the limit is reached; returns whether it holds. */
    public boolean happens(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        return place.clock().isVirtual() ? happensVirtually(limit, condition) : happensReally(limit, condition);
    }

    /**
     * Whether the call ends within that time; more by {@link #patience()} on the machine's clock, where no upper bound is sure. In virtual time the clock then stands at the limit and a thread that is late has a
     * moment of real time to arrive: what is late is the provider.
     */
    public boolean endsWithin(Duration limit, Task<?> task) throws InterruptedException {
        return happens(isVirtual() ? limit : limit.plus(patience()), task::isDone);
    }

    private boolean happensReally(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!holds(condition)) {
            if (System.nanoTime() - end > 0) {
                return holds(condition);
            }
            place.clock().pass(Duration.ofMillis(2));
        }
        return true;
    }

    private boolean happensVirtually(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        Duration step = limit.dividedBy(STEPS);
        for (int i = 0; i < STEPS; i++) {
            settle();
            if (holds(condition)) {
                return true;
            }
            place.clock().pass(step);
        }
        // Threads may still be on their way when the clock has arrived.
        long end = System.nanoTime() + REAL_GRACE;
        while (!holds(condition)) {
            if (System.nanoTime() - end > 0) {
                return holds(condition);
            }
            LockSupport.parkNanos(POLL);
        }
        return true;
    }

    private static boolean holds(Callable<Boolean> condition) throws InterruptedException {
        try {
            return condition.call();
        } catch (InterruptedException e) {
            throw e;
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw CheckFailure.of("a question to the client failed: " + e, e);
        }
    }

    /** In virtual time: waits until every task has returned or waits for something; for a moment of real time at most. */
    public void settle() throws InterruptedException {
        if (!place.clock().isVirtual()) {
            return;
        }
        long end = System.nanoTime() + REAL_GRACE;
        int quiet = 0;
        while (quiet < 2 && System.nanoTime() - end < 0) {
            quiet = tasks.stream().anyMatch(Task::busy) ? 0 : quiet + 1;
            if (quiet < 2 && !tasks.isEmpty()) {
                LockSupport.parkNanos(POLL / 4);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    // Threads

    /** Begins a call on a thread of its own; {@code what} says it in words, as "the second acquire". */
    public <T> Task<T> start(String what, Callable<T> work) {
        Task<T> task = new Task<>(this, what, work);
        tasks.add(task);
        task.begin();
        return task;
    }

    /** Makes a call that may wait for something that only the passing of time brings, and returns its value; in virtual time a check that called it itself would wait for ever. */
    public <T> T call(String what, Callable<T> work) throws InterruptedException {
        return start(what, work).get();
    }

    // Means

    /** Links to the subject that this check can break; for checks with {@link Means#PROXY}. */
    public Network network() throws Exception {
        Network network = Network.before(this, place);
        instruments.add(network);
        return network;
    }

    /** A client whose link can be broken, and no other's with it; for checks with {@link Means#LINK}. */
    public ClientLink link(String role, ClientOptions options) throws Exception {
        TckSubject.Links links = place.subject().links().orElse(null);
        return links == null
                ? ClientLink.through(network(), role, options)
                : linked(ClientLink.of(links, client(role, options)));
    }

    /** A client whose link is broken at the end would take its time to close. */
    private ClientLink linked(ClientLink link) {
        instruments.add(() -> {
            link.heal();
            link.keepReplies();
        });
        return link;
    }

    /** As {@link #link(String, ClientOptions)}. */
    public ClientLink link(String role) throws Exception {
        return link(role, ClientOptions.defaults());
    }

    /** A client in a process of its own; for checks with {@link Means#PROCESS}. */
    public RemoteClient process(String role) throws Exception {
        RemoteClient remote = RemoteClient.start(place, recorder, role, named(role, ClientOptions.defaults()));
        instruments.add(remote);
        return remote;
    }

    /** Ends the server as a crash would; for checks with {@link Means#SERVER}, which are {@code alone}. */
    public void killServer() throws Exception {
        serverHurt = true;
        place.subject().kill().orElseThrow().run();
    }

    /** Starts the server again. */
    public void restartServer() throws Exception {
        place.subject().restart().orElseThrow().run();
    }

    /** Stops the server, as by SIGSTOP; for checks with {@link Means#PAUSE}, which are {@code alone}. */
    public void pauseServer() throws Exception {
        serverHurt = true;
        place.subject().pause().orElseThrow().run();
    }

    /** Lets the server go on. */
    public void resumeServer() throws Exception {
        place.subject().resume().orElseThrow().run();
    }

    // Assertions

    /** Fails the check unless {@code ok}; {@code otherwise} says what was seen and what should have been. */
    public void expect(boolean ok, String otherwise) {
        if (!ok) {
            throw CheckFailure.of(otherwise, null);
        }
    }

    /** Fails the check unless the two are equal. */
    public void expectEqual(String what, @Nullable Object expected, @Nullable Object actual) {
        if (!Objects.equals(expected, actual)) {
            throw CheckFailure.of(what + " should be " + expected + ", and is " + actual, null);
        }
    }

    /** Fails the check unless the call throws such an exception; returns that. */
    public <E extends Throwable> E expectThrows(String what, Class<E> type, Callable<?> call)
            throws InterruptedException {
        Object returned;
        try {
            returned = call.call();
        } catch (Throwable e) {
            return expectType(what, type, e);
        }
        throw CheckFailure.of(what + " should throw " + type.getSimpleName() + ", and returned " + returned, null);
    }

    /** Fails the check unless the exception is such a one; returns it. */
    public <E extends Throwable> E expectType(String what, Class<E> type, Throwable thrown)
            throws InterruptedException {
        if (type.isInstance(thrown)) {
            return type.cast(thrown);
        }
        if (thrown instanceof InterruptedException interrupt) {
            throw interrupt;
        }
        throw CheckFailure.of(what + " should throw " + type.getSimpleName() + ", and threw " + thrown, thrown);
    }

    /** Fails the check. */
    public CheckFailure failure(String message) {
        return CheckFailure.of(message, null);
    }

    /** Gives the check up without blame. */
    public NotTried notTried(Verdict verdict, String why) {
        return new NotTried(verdict, why);
    }

    /** Something measured, for the report. */
    public void note(String text) {
        notes.add(text);
    }

    List<String> notes() {
        return notes;
    }

    /** What rule the history of this check breaks. */
    Optional<Breach> breach() {
        return recorder.breach(has(Feature.FENCING));
    }

    /** The history of this check, as text and picture. */
    Optional<Breach> story() {
        return recorder.story();
    }

    /** The threads of this check that have not ended, as text. */
    String stacks(Thread own) {
        StringBuilder text = new StringBuilder();
        List<Thread> threads = new ArrayList<>(List.of(own));
        tasks.stream().filter(task -> !task.isDone()).forEach(task -> threads.add(task.thread()));
        for (Thread thread : threads) {
            text.append('\n').append(thread.getName()).append(' ').append(thread.getState());
            for (StackTraceElement frame : thread.getStackTrace()) {
                text.append("\n    at ").append(frame);
            }
        }
        return text.toString();
    }

    /** Ends what the check left; after a crash of the server, when it grants again, so that the next check finds it open. */
    @Override
    public void close() {
        if (serverHurt) {
            awaitServing();
        }
        tasks.stream().filter(task -> !task.isDone()).forEach(Task::interrupt);
        for (AutoCloseable instrument : instruments) {
            quietly(instrument);
        }
        clients.forEach(Trial::quietly);
    }

    private void awaitServing() {
        Task<Boolean> visit = start("an acquire after the server's crash", () -> {
            client("visitor").lock(freshName()).acquire().release();
            return true;
        });
        try {
            happens(patience().multipliedBy(2), visit::isDone);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void quietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // The check has its verdict; what cannot be closed was looked at by the checks of closing.
        }
    }

    /** A duration for people. */
    public static String text(Duration time) {
        long millis = time.toMillis();
        return millis < 10_000 ? millis + " ms" : millis / 1000 + " s";
    }
}
