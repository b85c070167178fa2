// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TokenFloor;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Reads and checks a URL and its options. */
final class Connector {
    private static final int PORT = 2181;
    private static final int SECURE_PORT = 2281;
    private static final String BASE = "keyway";
    private static final Id ANYONE = new Id("world", "anyone");
    private static final Id CREATOR = new Id("auth", "");

    private Connector() {}

    static ZooKeeperSettings settings(OpenRequest request) {
        LockUrl url = request.url();
        Optional<CuratorFramework> given = request.find(ZooKeeperOptions.CURATOR);
        if (url.isOpaque() || url.protocol().isPresent() || (url.hosts().isEmpty() && given.isEmpty())) {
            throw new InvalidLockUrlException(
                    url + ": the servers of the ensemble are needed, as in lock:zookeeper://z1:2181,z2:2181/path");
        }
        return given.isPresent() ? given(request, given.get()) : own(request);
    }

    private static ZooKeeperSettings own(OpenRequest request) {
        LockUrl url = request.url();
        Optional<String> digest = digest(url);
        boolean tls = request.get(ZooKeeperOptions.TLS);
        String servers = url.hosts().stream()
                .map(host -> new LockUrl.Host(host.name(), OptionalInt.of(host.portOr(tls ? SECURE_PORT : PORT))))
                .map(LockUrl.Host::toString)
                .collect(Collectors.joining(","));
        ZooKeeperTarget target = new ZooKeeperTarget(servers, digest, config(request, tls));
        return settings(
                request, servers, (settings, requests) -> new OwnSessions(target, settings, requests), base(url));
    }

    private static ZooKeeperSettings given(OpenRequest request, CuratorFramework framework) {
        LockUrl url = request.url();
        if (!url.hosts().isEmpty() || url.user().isPresent()) {
            throw new InvalidLockUrlException(
                    url + ": with the option curator the servers, the user and the password are those of the"
                            + " CuratorFramework; leave them out, as in lock:zookeeper:///path");
        }
        for (Option<?> option : List.of(
                ZooKeeperOptions.SESSION_TIMEOUT,
                ZooKeeperOptions.CLIENT_CONFIG,
                ZooKeeperOptions.TLS_TRUST_STORE,
                ZooKeeperOptions.TLS_TRUST_STORE_PASSWORD,
                ZooKeeperOptions.TLS_KEY_STORE,
                ZooKeeperOptions.TLS_KEY_STORE_PASSWORD)) {
            refuse(url, option, request.find(option).isPresent());
        }
        refuse(url, ZooKeeperOptions.TLS, request.get(ZooKeeperOptions.TLS));
        refuse(url, ZooKeeperOptions.SESSIONS, request.get(ZooKeeperOptions.SESSIONS) != 1);
        String namespace = framework.getNamespace();
        String base = base(url);
        return settings(
                request,
                framework.getZookeeperClient().getCurrentConnectionString(),
                (settings, requests) -> new GivenSessions(framework, settings.session(), requests),
                namespace == null || namespace.isEmpty() ? base : "/" + namespace + base);
    }

    private static void refuse(LockUrl url, Option<?> option, boolean said) {
        if (said) {
            throw new InvalidLockUrlException(url + ": with the option curator the option " + option.name()
                    + " has no meaning, since the connection is the CuratorFramework's; leave it out");
        }
    }

    private static ZooKeeperSettings settings(
            OpenRequest request, String servers, ZooKeeperSettings.Source source, String base) {
        AtomicInteger threads = new AtomicInteger();
        String prefix = "keyway-" + request.clientName() + "-zookeeper-";
        return new ZooKeeperSettings(
                request.url().toString(),
                source,
                new Session.Common(
                        servers,
                        List.of(new ACL(ZooDefs.Perms.ALL, request.url().user().isPresent() ? CREATOR : ANYONE)),
                        request.find(ZooKeeperOptions.ACL_PROVIDER),
                        new Paths(base)),
                request.find(ZooKeeperOptions.SESSION_TIMEOUT),
                request.options().lockDefaults().ttl().orElseGet(() -> request.get(CommonOptions.TTL)),
                request.get(ZooKeeperOptions.SESSIONS),
                request.get(CommonOptions.CONNECT) == CommonOptions.Connect.EAGER
                        ? Optional.of(request.get(CommonOptions.CONNECT_TIMEOUT))
                        : Optional.empty(),
                request.get(CommonOptions.CLOSE_TIMEOUT).dividedBy(5),
                TokenFloor.of(request),
                task -> {
                    Thread thread = new Thread(task, prefix + threads.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    private static Optional<String> digest(LockUrl url) {
        if (url.user().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(url.user().get() + ":" + url.password().orElse(""));
    }

    static String base(LockUrl url) {
        String path = url.path().orElse("").replaceAll("^/+|/+$", "");
        String base = "/" + (path.isEmpty() ? BASE : path);
        try {
            PathUtils.validatePath(base);
        } catch (IllegalArgumentException e) {
            throw new InvalidLockUrlException(url + ": not a path of ZooKeeper: " + e.getMessage(), e);
        }
        if (base.equals("/zookeeper") || base.startsWith("/zookeeper/")) {
            throw new InvalidLockUrlException(url + ": /zookeeper is reserved by ZooKeeper; use another path");
        }
        return base;
    }

    private static ZKClientConfig config(OpenRequest request, boolean tls) {
        if (tls) {
            demandNetty(request);
        }
        ZKClientConfig config = request.find(ZooKeeperOptions.CLIENT_CONFIG)
                .orElseGet(() -> tls ? new ZKClientConfig() : new PlainConfig());
        if (config.getProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT) == null) {
            // Of the calls that wait only the end of a session is used.
            long end = Math.max(
                    100, Math.min(1000, request.get(CommonOptions.CLOSE_TIMEOUT).toMillis() / 5));
            config.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, Long.toString(end));
        }
        // The watch of what is broken has to outlast a connection.
        config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "false");
        if (tls) {
            config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            config.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
            set(config, "zookeeper.ssl.trustStore.location", request.find(ZooKeeperOptions.TLS_TRUST_STORE));
            set(config, "zookeeper.ssl.trustStore.password", request.find(ZooKeeperOptions.TLS_TRUST_STORE_PASSWORD));
            set(config, "zookeeper.ssl.keyStore.location", request.find(ZooKeeperOptions.TLS_KEY_STORE));
            set(config, "zookeeper.ssl.keyStore.password", request.find(ZooKeeperOptions.TLS_KEY_STORE_PASSWORD));
        }
        return config;
    }

    private static void demandNetty(OpenRequest request) {
        try {
            Class<?> unused =
                    Class.forName("io.netty.handler.ssl.SslContext", false, ZKClientConfig.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new InvalidLockUrlException(
                    request.url() + ": with tls ZooKeeper's client needs Netty; add io.netty:netty-handler and"
                            + " io.netty:netty-transport-classes-epoll to the class path",
                    e);
        }
    }

    private static void set(ZKClientConfig config, String key, Optional<String> value) {
        value.ifPresent(text -> config.setProperty(key, text));
    }
}
