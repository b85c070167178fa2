// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.history.Breach;
import io.keyway.lock.tck.history.Recorder;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** The clients of one run of one check, the names that they use, and the history of all that they do. */
abstract class CheckClients extends TestTime {
    private final String check;
    private final int attempt;
    private final SplittableRandom random;
    private final AtomicInteger names = new AtomicInteger();
    private final List<LockClient> clients = new CopyOnWriteArrayList<>();
    private final WaiterCount waits = new WaiterCount();
    private final Queue<String> astray = new ConcurrentLinkedQueue<>();
    final Recorder recorder;
    final LoopWitness loops = new LoopWitness();

    private final Interceptor watch = new Interceptor() {
        @Override
        public LockEngine engine(LockEngine engine) {
            return EngineWitness.before(engine, astray::add);
        }

        @Override
        public LockBackend backend(LockBackend backend) {
            // In virtual time no loop runs.
            return isVirtual() ? backend : loops.over(backend);
        }
    };

    CheckClients(RunContext run, String check, int attempt) {
        super(run);
        this.check = check;
        this.attempt = attempt;
        this.random = new SplittableRandom(run.config().seed() * 31 + check.hashCode() + 7L * attempt);
        this.recorder = new Recorder(run.clock()::now);
    }

    public Profile profile() {
        return run.config().profile();
    }

    public TckSubject subject() {
        return run.subject();
    }

    public LockUrl url() {
        return run.url();
    }

    public Guarantees guarantees() {
        return run.guarantees();
    }

    /** Goes on only if a grant outlasts its connection: who promises no exclusion may tie it to that. */
    public void needsGrantsThatOutlastConnections() {
        if (guarantees().exclusion().grade() == Grade.NO) {
            throw skipped(Verdict.NOT_APPLICABLE, "the provider promises no exclusion where a connection breaks");
        }
    }

    public Scope reach() {
        return run.reach();
    }

    /** Whether the provider is built over a {@code LockBackend}, so that its engine is the kit's own. */
    public boolean isOverBackend() {
        return run.overBackend();
    }

    public boolean has(Feature feature) {
        return run.features().contains(feature);
    }

    /**
     * Whether its provider takes that option, which is none of the common ones, and the subject's URL leaves it open.
     */
    public boolean takes(Option<?> option) {
        return offers(option) && !run.url().options().containsKey(option.name());
    }

    /** Whether its provider takes that option, which is none of the common ones. */
    public boolean offers(Option<?> option) {
        return run.options().contains(option.name());
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

    /** A new client, called by its role in the check; closed at the end. What it does is recorded. */
    public LockClient client(String role) {
        return client(role, ClientOptions.defaults());
    }

    /**
     * As {@link #client(String)}, with these options. Its locks have the ttl of the check unless the options say
     * otherwise.
     */
    public LockClient client(String role, ClientOptions options) {
        return client(role, options, run.url());
    }

    /** As {@link #client(String, ClientOptions)}, at another URL. */
    public LockClient client(String role, ClientOptions options, LockUrl where) {
        return recorded(role, run.open(where, named(role, options), watch));
    }

    final LockClient recorded(String role, LockClient opened) {
        LockClient recorded = recorder.record(role, opened);
        clients.add(recorded);
        if (!has(Feature.LIST)) {
            waits.of(opened);
        }
        return recorded;
    }

    /** Options as {@link #client(String, ClientOptions)} uses them. */
    ClientOptions named(String role, ClientOptions options) {
        ClientOptions terms = run.paced(options).withDefaults(terms().overlaidBy(options.lockDefaults()));
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
        return "tck/" + run.word() + "/" + check.replace('/', '-') + "-" + attempt;
    }

    /** The key of a lock of that name. */
    public LockKey key(String name) {
        return LockKey.lock(LockName.of(name));
    }

    /** The place for tests beside the subject's URL, if its provider names one. */
    public Optional<LockUrl> testUrl() {
        return run.place().url();
    }

    /** Whether the provider names the same place for other runs. */
    public boolean sharesTestUrl() {
        return run.place().isShared();
    }

    /** The subject's URL with one more option. */
    public LockUrl urlWith(String option, String value) {
        return run.url().withOption(option, value);
    }

    /** Opens a client that is not recorded and that the check closes itself; its locks have the ttl of the check. */
    public LockClient openUnrecorded(LockUrl where, ClientOptions options) {
        return run.open(where, named("unrecorded", options), watch);
    }

    /** Opens a client with these options and no others; not recorded, and the check closes it itself. */
    public LockClient openBare(LockUrl where, ClientOptions options) {
        return run.open(where, options, watch);
    }

    /** Collects what a client tells its listeners from now on. */
    public Events events(LockClient client) {
        return new Events(client);
    }

    /** The authority's view of a lock; needs LIST. */
    public LockStatus status(LockClient client, LockKey key) throws InterruptedException {
        return client.admin().show(key).orElse(new LockStatus(key, List.of(), List.of()));
    }

    /**
     * Lets time pass until so many wait for the lock; without LIST, by what clients tell, for a quarter of a ttl at
     * most.
     */
    public void untilWaiting(LockClient client, String name, int waiters) throws InterruptedException {
        untilWaiting(client, key(name), waiters);
    }

    /** As {@link #untilWaiting(LockClient, String, int)}, for a lock or a semaphore. */
    public void untilWaiting(LockClient client, LockKey key, int waiters) throws InterruptedException {
        if (has(Feature.LIST)) {
            Callable<Boolean> waiting = () -> status(client, key).waiters().size() >= waiters;
            // On a busy machine the holder may not have renewed in time, or who was to wait with the others has done so
            // for as long as it may: then so many never wait, and patience is no help.
            if (!isVirtual() && !happens(ttl(4, 1), waiting)) {
                if (recorder.hasExpired(key.name().value())) {
                    throw failure("a lease of a lock for which " + waiters + " were to wait has expired");
                }
                if (recorder.hasWaitedInVain(key.name().value())) {
                    throw failure("the limit of a wait was over before " + waiters + " were shown to wait");
                }
            }
            until(waiters + " wait for the lock", waiting);
        } else {
            happens(ttl(1, 4), () -> waits.behind(key) >= waiters);
        }
    }

    /** What rule the history of this check breaks, or what its engines told. */
    Optional<Breach> breach() {
        String told = astray.peek();
        return told == null
                ? recorder.breach(has(Feature.FENCING), has(Feature.CACHING))
                : Optional.of(Breach.ofSinks(
                        told,
                        String.join("\n", astray)
                                + recorder.story()
                                        .map(story -> "\n\n" + story.evidence())
                                        .orElse("")));
    }

    /** The history of this check, as text and picture. */
    Optional<Breach> story() {
        return recorder.story();
    }

    @Override
    final Stream<String> clientNames() {
        return clients.stream().map(LockClient::name);
    }

    final void closeClients() {
        clients.forEach(CheckClients::quietly);
    }

    static void quietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // The check has its verdict; what cannot be closed was looked at by the checks of closing.
        }
    }
}
