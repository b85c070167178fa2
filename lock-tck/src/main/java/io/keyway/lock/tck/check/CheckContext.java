// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.ClientProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One run of one check: hands it clients, names, threads, time and faults, and keeps the history of all that its
 * clients did. Everything it handed out ends with it.
 */
public final class CheckContext extends CheckSteps implements AutoCloseable {
    private final List<AutoCloseable> instruments = new CopyOnWriteArrayList<>();
    private final Server server;
    private volatile boolean broken;

    /** Why a place for tests could not be cleared. */
    private volatile @Nullable Exception obstacle;

    CheckContext(RunContext run, String check, int attempt) {
        super(run, check, attempt);
        this.server = new Server(run.subject(), run.url(), run.killed());
    }

    /** The backend of a new client, to be asked directly; gives the check up if the provider has none. */
    public BackendProbe probe(String role) throws InterruptedException {
        return BackendProbe.of(this, client(role), role);
    }

    /** As {@link #probe(String)}, of a client whose link can be broken. */
    public BackendProbe probe(ClientLink link, String role) throws InterruptedException {
        return BackendProbe.of(this, link.client(), role);
    }

    /** Links to the subject that this check can break; for checks with {@link Requirement#PROXY}. */
    public Network network() throws Exception {
        broken = true;
        Network network = Network.before(this, run);
        instruments.add(network);
        return network;
    }

    /** A client whose link can be broken, and no other's with it; for checks with {@link Requirement#LINK}. */
    public ClientLink link(String role, ClientOptions options) throws Exception {
        broken = true;
        TckSubject.Links links = run.subject().links().orElse(null);
        if (links != null) {
            return linked(ClientLink.of(links, client(role, options)));
        }
        return run.hasProxies() ? ClientLink.through(network(), role, options) : linked(between(role, options));
    }

    private ClientLink between(String role, ClientOptions options) {
        AtomicReference<BackendLink> link = new AtomicReference<>();
        LockClient opened = run.open(run.url(), named(role, options), new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                BackendLink made = new BackendLink(backend, !isVirtual());
                link.set(made);
                return made.shown();
            }
        });
        return ClientLink.of(Objects.requireNonNull(link.get(), "no backend"), recorded(role, opened));
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

    /** A client in a process of its own; for checks with {@link Requirement#PROCESS}. */
    public ClientProcess process(String role) throws Exception {
        return process(role, Duration.ZERO);
    }

    /** As {@link #process(String)}, its wall clock so far ahead, or behind; with {@link Requirement#WALL_CLOCK}. */
    public ClientProcess process(String role, Duration ahead) throws Exception {
        ClientProcess remote =
                RemoteClients.start(run, role, named(role, ClientOptions.defaults()), freshName(), ahead);
        instruments.add(remote);
        return remote;
    }

    /**
     * Where this check may change the store for good, as by a floor of tokens: the subject's URL if its store is thrown
     * away, else the place for tests that the provider names; gives the check up if there is none, or none that is sure
     * to be apart. What is left there is removed at the end.
     */
    public LockUrl placeForGood() throws InterruptedException {
        if (subject().isThrowaway()) {
            return url();
        }
        LockUrl place = testUrl()
                .orElseThrow(() -> skipped(
                        Verdict.NOT_RUN,
                        "it would change the store for good, and the provider names no place for tests beside the URL "
                                + "(LockProvider.testUrl), nor is the store thrown away "
                                + "(TckSubject.withThrowawayStore)"));
        boolean apart = !sharesTestUrl() && !place.equals(url());
        if (apart) {
            try (LockClient here = openUnrecorded(url(), ClientOptions.defaults());
                    LockClient there = openPlace(place)) {
                apart = TestPlace.areApart(here, there, freshName());
            }
        }
        if (!apart) {
            run.place().cleared();
            throw skipped(
                    Verdict.NOT_RUN,
                    "it would change the store for good, and the place for tests that the provider names is not apart "
                            + "from the URL (LK-610)");
        }
        return place;
    }

    /**
     * A client of that place for tests, not recorded, whose use the check may change for good; gives the check up if
     * the subject's user may not use it. What is left there is removed at the end, or by {@link #removeLeftovers}.
     */
    public LockClient openPlace(LockUrl place) throws InterruptedException {
        run.place().changes(place);
        try {
            LockClient client = openUnrecorded(place, ClientOptions.defaults());
            try {
                client.lock(freshName()).acquire().release();
                return client;
            } catch (InterruptedException | RuntimeException e) {
                quietly(client);
                throw e;
            }
        } catch (LockException e) {
            if (e.retryable()) {
                throw e;
            }
            run.place().cleared();
            throw skipped(Verdict.NOT_RUN, "the place for tests at " + place + " cannot be used: " + e.getMessage());
        }
    }

    /** Removes what is left in a place for tests, of which no client is open. */
    public void removeLeftovers() throws Exception {
        run.place().removeLeft(patience());
    }

    /** The subject's server, for checks with {@link Requirement#SERVER} or {@link Requirement#PAUSE}. */
    public Server server() {
        return server;
    }

    /** What was measured, and how often loops ended that nothing had broken. */
    @Override
    List<String> notes() {
        List<String> all = new ArrayList<>(super.notes());
        if (!broken && !server.isHurt()) {
            loops.note().ifPresent(all::add);
        }
        return all;
    }

    /**
     * Ends what the check left; after a crash of the server, when it grants again, so that the next check finds it
     * open.
     */
    @Override
    public void close() {
        if (server.mended()) {
            awaitServing();
        }
        interruptTasks();
        for (AutoCloseable instrument : instruments) {
            quietly(instrument);
        }
        closeClients();
        try {
            removeLeftovers();
        } catch (Exception e) {
            obstacle = e;
        }
    }

    /** Where something is left, and why, in words; empty if nothing is, after {@link #close()}. */
    Optional<String> left() {
        Exception why = obstacle;
        String text = why == null ? "there was no time" : String.valueOf(why.getMessage());
        return run.place().left().map(place -> TestPlace.text(place, text));
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
}
