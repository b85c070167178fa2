// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.AddressMap;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ProxiedUrl;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** The links between a check's clients and the servers of the subject: a proxy before each server, all broken alike. */
public final class Network implements AutoCloseable {
    private static final int NAMES = 12;
    private static final Duration SHORT = Duration.ofMillis(500);

    private final CheckClients context;
    private final ServerProxies proxies;
    private final LockUrl url;

    private Network(CheckClients context, ServerProxies proxies, LockUrl url) {
        this.context = context;
        this.proxies = proxies;
        this.url = url;
    }

    static Network before(CheckClients context, RunContext run) throws IOException, InterruptedException {
        List<String> servers = new ArrayList<>();
        for (LockUrl.Host host :
                run.url().isOpaque() ? List.<LockUrl.Host>of() : run.url().hosts()) {
            if (host.port().isEmpty()) {
                throw context.skipped(
                        Verdict.NOT_RUN,
                        "the URL does not say the port of " + host + "; write it, so that a proxy can stand before it");
            }
            servers.add(host.toString());
        }
        servers.addAll(run.subject().servers());
        ServerProxies proxies = ServerProxies.before(servers);
        try {
            LockUrl through = LockUrl.parse(run.subject()
                    .addresses()
                    .orElse(map -> url(context, run, map))
                    .url(proxies.addresses()));
            Network network = new Network(context, proxies, through);
            if (!run.links().areProxied(network::isOnAllWays)) {
                throw context.skipped(
                        Verdict.INCONCLUSIVE,
                        "clients go round the proxies, since the servers tell them other addresses; supply "
                                + "TckSubject.withAddressMap,"
                                + " or take the option addressMap (io.keyway.lock.AddressMap), so that links can be "
                                + "broken");
            }
            return network;
        } catch (InterruptedException | RuntimeException e) {
            proxies.close();
            throw e;
        }
    }

    /** Whether nothing is granted while all proxies are black holes; heals them. */
    private boolean isOnAllWays() throws InterruptedException {
        ClientOptions options = ClientOptions.defaults().withName("tck-links");
        try (LockClient client = context.openUnrecorded(url, options)) {
            long start = System.nanoTime();
            client.lock(context.freshName()).acquire().release();
            if (connections() == 0) {
                return false;
            }
            Duration needed = Duration.ofNanos(System.nanoTime() - start);
            Duration limit = needed.compareTo(SHORT) > 0 ? needed : SHORT;
            blackHole();
            List<CompletableFuture<Optional<Lease>>> attempts = new ArrayList<>();
            for (int i = 0; i < NAMES; i++) {
                attempts.add(client.lock(context.freshName()).tryAcquireAsync(limit));
            }
            return attempts.stream().noneMatch(Network::isGranted);
        } finally {
            reset();
            heal();
        }
    }

    private static boolean isGranted(CompletableFuture<Optional<Lease>> attempt) {
        try {
            return attempt.join().isPresent();
        } catch (CompletionException e) {
            return false;
        }
    }

    private static String url(CheckClients context, RunContext run, Map<String, String> proxies) {
        if (!run.options().contains(AddressMap.OPTION.name())) {
            return ProxiedUrl.of(run.url(), proxies);
        }
        return context.urlWith(AddressMap.OPTION.name(), new AddressMap(proxies).toString())
                .reveal();
    }

    LockUrl url() {
        return url;
    }

    /** A client whose links are these. */
    public LockClient client(String role) {
        return client(role, ClientOptions.defaults());
    }

    /** A client with these options, whose links are these. */
    public LockClient client(String role, ClientOptions options) {
        return context.client(role, options, url);
    }

    /** Nothing moves either way, new connections stay mute, nobody is told. */
    public void blackHole() {
        all(FaultProxy::blackHole);
    }

    /** Nothing moves that way any more, and nobody is told; what was sent arrives after {@link #heal()}. */
    public void cut(Direction direction) {
        all(proxy -> proxy.cut(direction));
    }

    /** What the server answers from now on is thrown away; {@link #reset()} must follow before {@link #heal()}. */
    public void loseReplies() {
        all(proxy -> proxy.set(Direction.TO_CLIENT, Fault.DISCARDING));
    }

    /** As {@link #loseReplies()}, when each server has answered so many requests from now on. */
    public void loseRepliesAfter(int answers) {
        all(proxy -> proxy.discardAfter(answers));
    }

    /** The connections that stand are dead from now on, and nobody is told; new ones are served. */
    public void strand() {
        all(FaultProxy::strand);
    }

    /** Each byte arrives that much later, both ways. */
    public void delay(Duration by) {
        all(proxy -> {
            proxy.set(Direction.TO_SERVER, Fault.delayed(by));
            proxy.set(Direction.TO_CLIENT, Fault.delayed(by));
        });
    }

    /** All connections end by a reset; new ones are served. */
    public void reset() {
        all(FaultProxy::reset);
    }

    /** All connections end by a reset, new ones are refused. */
    public void disconnect() {
        all(FaultProxy::disconnect);
    }

    /** Ends every fault. */
    public void heal() {
        all(FaultProxy::heal);
    }

    /** How many connections stand. */
    public int connections() {
        return proxies.connections();
    }

    private void all(Consumer<FaultProxy> what) {
        proxies.all(what);
    }

    @Override
    public void close() {
        proxies.close();
    }
}
