// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.process.ClientProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One run of one check: hands it clients, names, threads, time and faults, and keeps the history of all that its
 * clients did. Everything it handed out ends with it.
 */
public final class CheckContext extends CheckSteps implements AutoCloseable {
    private final List<AutoCloseable> instruments = new CopyOnWriteArrayList<>();
    private final Server server;
    private volatile boolean broken;

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
        ClientProcess remote = RemoteClients.start(run, role, named(role, ClientOptions.defaults()), freshName());
        instruments.add(remote);
        return remote;
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
