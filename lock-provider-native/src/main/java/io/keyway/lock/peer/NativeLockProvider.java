// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.cluster.ClusterMode;
import io.keyway.lock.peer.cluster.HostedMembers;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.engine.NativeEngine;
import io.keyway.lock.peer.local.LocalMode;
import io.keyway.lock.peer.memory.MemoryWorlds;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.spi.Library;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * Serves {@code lock:native:local://}, the lease service of this machine, {@code lock:native://a:7400,b:7400/cluster}, that of several members, and {@code lock:native:mem://name}, that of one JVM.
 */
public final class NativeLockProvider implements LockProvider {
    private static final Library NETTY = new Library(
            "Netty",
            "4.1.110",
            "io.netty.channel.socket.nio.NioDomainSocketChannel",
            "io.netty.channel.socket.nio.NioSocketChannel");
    private static final Duration MIN_TTL = Duration.ofMillis(100);
    private static final MemoryWorlds WORLDS = new MemoryWorlds();

    /** For the service loader. */
    public NativeLockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("native");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Keyway native", "0.1.0", ProviderInfo.API_LEVEL, NativeOptions.ALL);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = EnumSet.of(
                Feature.FENCING, Feature.FIFO, Feature.LIST, Feature.BREAK, Feature.WAKE_UP, Feature.HOLD_AT_LEAST);
        if (url.option(NativeOptions.CACHE).orElse(NativeOptions.Switch.ON) == NativeOptions.Switch.ON) {
            features.add(Feature.CACHING);
        }
        return features;
    }

    @Override
    public Scope scope(LockUrl url) {
        return switch (url.protocol().orElse("")) {
            case "mem" -> Scope.JVM;
            case "local" -> Scope.MACHINE;
            default -> Scope.NETWORK;
        };
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl url = request.url();
        if (scope(url) != Scope.JVM) {
            NETTY.require(url, NativeLockProvider.class.getClassLoader());
        }
        Duration maxTtl = request.get(NativeOptions.MAX_TTL);
        NativeEngine engine = new NativeEngine(
                request.clientName(),
                request.get(CommonOptions.REQUEST_TIMEOUT),
                features(url),
                guarantees(url, maxTtl));
        engine.sit(seat(request, engine, maxTtl));
        if (request.get(CommonOptions.CONNECT) == CommonOptions.Connect.EAGER) {
            try {
                engine.connect(request.get(CommonOptions.CONNECT_TIMEOUT));
            } catch (LockUnavailableException e) {
                engine.close();
                throw e;
            }
        }
        return request.over(engine);
    }

    private static ClientRuntime seat(OpenRequest request, NativeEngine engine, Duration maxTtl) {
        LockUrl url = request.url();
        return switch (url.protocol().orElse("")) {
            case "mem" -> mem(request, engine, maxTtl);
            case "local" -> LocalMode.seat(request, leaseSettings(request), engine::heard);
            case "", "lease" ->
                HostedMembers.open(request, () -> ClusterMode.seat(request, leaseSettings(request), engine::heard));
            default ->
                throw new InvalidLockUrlException(url
                        + ": the native provider serves lock:native:local:// (this machine), lock:native:mem://<name> (this JVM) and lock:native://<member>,<member>/<cluster>, not the protocol '"
                        + url.protocol().orElse("") + "'");
        };
    }

    private static ClientRuntime mem(OpenRequest request, NativeEngine engine, Duration maxTtl) {
        LockUrl url = request.url();
        if (url.hosts().size() != 1 || url.path().isPresent()) {
            throw new InvalidLockUrlException(url + ": a world has one name, as in lock:native:mem://name");
        }
        String name = url.hosts().get(0).toString();
        Cells cells = new Cells("mem:" + name, maxTtl, leaseSettings(request), Authenticator.none());
        boolean manual = request.get(NativeOptions.CLOCK) == NativeOptions.Clock.MANUAL;
        MemoryWorlds.Members members =
                (epoch, now, quarantine) -> cells.member(name, epoch, now + quarantine, Horizon.NONE);
        return WORLDS.join(
                name, manual, members, cells.quarantine(), cells.giving(floor(request))::client, engine::heard);
    }

    private static long floor(OpenRequest request) {
        return request.find(CommonOptions.TOKEN_FLOOR).orElse(0L);
    }

    private static LockSettings leaseSettings(OpenRequest request) {
        LockSettings settings = LockSettings.defaults();
        return request.get(NativeOptions.CACHE) == NativeOptions.Switch.OFF
                ? settings.withoutCache()
                : settings.withCache(
                        request.get(NativeOptions.CACHE_FOR).toNanos(), request.get(NativeOptions.CACHE_SIZE));
    }

    private static Guarantees guarantees(LockUrl url, Duration maxTtl) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "without any assumption while the member lives; over its restart if clock rates differ by less than 1 %"),
                new Guarantee(Grade.TIMED, "if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(Grade.ALWAYS, "while the member's file is not replaced by an older one"),
                failover(url),
                MIN_TTL,
                maxTtl);
    }

    private static Guarantee failover(LockUrl url) {
        return switch (url.protocol().orElse("")) {
            case "local" ->
                new Guarantee(
                        Grade.TIMED,
                        "another process takes over; it grants when no lease of the former can be believed in");
            case "mem" -> new Guarantee(Grade.NO, "the locks end with their JVM, as do all who could hold them");
            default ->
                new Guarantee(
                        Grade.NO,
                        "names are partitioned, not replicated: those of a member that fails wait for its restart");
        };
    }
}
