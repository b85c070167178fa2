// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.cluster.ClusterMode;
import io.keyway.lock.peer.cluster.HostedMembers;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.engine.NativeEngine;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.local.LocalMode;
import io.keyway.lock.peer.memory.MemoryWorlds;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.trace.TraceFile;
import io.keyway.lock.peer.trace.TraceLog;
import io.keyway.lock.peer.trace.TracedEngine;
import io.keyway.lock.spi.Library;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Serves {@code lock:native:local://}, the lease service of this machine, {@code lock:native://a:7400,b:7400/cluster},
 * that of several members, and {@code lock:native:mem://name}, that of one JVM; and other algorithms of clusters, as in
 * {@code lock:native:lamport://a:7400,b:7400/cluster} and {@code lock:native:bakery://a:7400,b:7400,c:7400/cluster}.
 * {@code lock:native:failover://a:7400,b:7400,c:7400/cluster} is the lease service led by one member that can be lost,
 * {@code lock:native:agent://a:7400,b:7400/cluster} is the lease service again, where every lock is one of a tree.
 */
public final class NativeLockProvider implements LockProvider {
    private static final Library NETTY = new Library(
            "Netty",
            "4.1.110",
            "io.netty.channel.socket.nio.NioDomainSocketChannel",
            "io.netty.channel.socket.nio.NioSocketChannel");
    /** What a URL says in the place of an algorithm. */
    private static final Set<String> PLACES = Set.of("", "local", "mem");

    private static final MemoryWorlds WORLDS = new MemoryWorlds();

    /** For the service loader. */
    public NativeLockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("native");
    }

    @Override
    public List<String> protocols() {
        return Algorithms.others();
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Keyway native", "0.1.0", ProviderInfo.API_LEVEL, NativeOptions.ALL);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return algorithm(url).features(url);
    }

    @Override
    public Scope scope(LockUrl url) {
        return switch (url.protocol().orElse("")) {
            case "mem" -> Scope.JVM;
            case "local" -> Scope.MACHINE;
            default -> Scope.NETWORK;
        };
    }

    /**
     * For locks of this machine. In a cluster a floor is the members' own, and no client can give one; all worlds of a
     * JVM count on from each other.
     */
    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        return url.protocol().equals(Optional.of("local"))
                ? Optional.of(url.withPath(
                        LocalMode.directory(url).resolve("tck-" + word).toString()))
                : Optional.empty();
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl url = request.url();
        if (scope(url) != Scope.JVM) {
            NETTY.require(url, NativeLockProvider.class.getClassLoader());
        }
        Duration maxTtl = request.get(NativeOptions.MAX_TTL);
        Algorithm algorithm = algorithm(url).openedWith(request);
        if (request.get(NativeOptions.TREE) == NativeOptions.Switch.ON && !algorithm.locksTrees()) {
            throw new InvalidLockUrlException(url + ": tree=on is for leases, and " + algorithm.name()
                    + " has no locks of trees. Leave it out, or use lock:native:agent://.");
        }
        Optional<TraceFile> trace = trace(request);
        NativeEngine engine = new NativeEngine(
                request.clientName(),
                algorithm,
                request.get(CommonOptions.REQUEST_TIMEOUT),
                algorithm.features(url),
                algorithm.guarantees(scope(url), maxTtl),
                listener -> {
                    ClientRuntime runtime = runtime(request, algorithm, listener, maxTtl);
                    trace.ifPresent(file -> runtime.trace(file.log()));
                    return runtime;
                });
        if (request.get(CommonOptions.CONNECT) == CommonOptions.Connect.EAGER) {
            try {
                engine.connect(request.get(CommonOptions.CONNECT_TIMEOUT));
            } catch (LockUnavailableException e) {
                engine.close();
                trace.ifPresent(TraceFile::close);
                throw e;
            }
        }
        return request.over(trace.<LockEngine>map(file -> new TracedEngine(engine, file.log(), file::close))
                .orElse(engine));
    }

    /** The file in which this client writes down its events, if its URL asks for one. */
    private static Optional<TraceFile> trace(OpenRequest request) {
        Optional<String> directory = request.find(NativeOptions.TRACE);
        if (directory.isEmpty()) {
            return Optional.empty();
        }
        if (request.url().protocol().equals(Optional.of("mem"))) {
            throw new InvalidLockUrlException(
                    request.url() + ": trace is for locks that processes share, and a mem world"
                            + " is of one JVM. Leave it out, or use lock:native:local:///a/directory.");
        }
        String client = request.clientName();
        try {
            return Optional.of(
                    new TraceFile(new TraceLog(TraceLog.Role.CLIENT, client), Path.of(directory.get()), client));
        } catch (IOException | InvalidPathException e) {
            throw new LockUnavailableException(
                    "The directory of the option trace cannot be used: " + e + ". Name one that this user may write to,"
                            + " or leave trace out.",
                    null,
                    null,
                    e);
        }
    }

    private static ClientRuntime runtime(
            OpenRequest request, Algorithm algorithm, BiConsumer<Notice, ClientCell> listener, Duration maxTtl) {
        LockUrl url = request.url();
        return switch (url.protocol().orElse("")) {
            case "mem" -> mem(request, algorithm, listener, maxTtl);
            case "local" -> LocalMode.open(request, algorithm, listener);
            default ->
                HostedMembers.open(
                        request,
                        algorithm,
                        (member, closed) -> ClusterMode.open(request, algorithm, member, listener, closed));
        };
    }

    /** The algorithm that a URL names; the standard one of those that say only where the members are. */
    private static Algorithm algorithm(LockUrl url) {
        String protocol = url.protocol().orElse("");
        if (PLACES.contains(protocol)) {
            return Algorithms.standard();
        }
        return Algorithms.named(protocol)
                .orElseThrow(() -> new InvalidLockUrlException(
                        url + ": the native provider serves lock:native:local:// (this machine),"
                                + " lock:native:mem://<name> (this JVM), lock:native://<member>,<member>/<cluster>"
                                + " and that with an algorithm, " + Algorithms.names() + ", not the protocol '"
                                + protocol + "'"));
    }

    private static ClientRuntime mem(
            OpenRequest request, Algorithm algorithm, BiConsumer<Notice, ClientCell> listener, Duration maxTtl) {
        LockUrl url = request.url();
        if (url.hosts().size() != 1 || url.path().isPresent()) {
            throw new InvalidLockUrlException(url + ": a world has one name, as in lock:native:mem://name");
        }
        String name = url.hosts().get(0).toString();
        Cells cells = new Cells("mem:" + name, maxTtl, algorithm, Authenticator.none());
        boolean manual = request.get(NativeOptions.CLOCK) == NativeOptions.Clock.MANUAL;
        MemoryWorlds.Members members =
                (epoch, now, quarantine) -> cells.member(name, epoch, now + quarantine, Horizon.NONE);
        return WORLDS.join(name, manual, members, cells.quarantine(), cells.giving(floor(request))::client, listener);
    }

    private static long floor(OpenRequest request) {
        return request.find(CommonOptions.TOKEN_FLOOR).orElse(0L);
    }
}
