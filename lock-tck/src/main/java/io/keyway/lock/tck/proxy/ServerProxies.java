// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import io.keyway.lock.AddressMap;
import io.keyway.lock.LockUrl;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The links from some clients to all servers: a proxy before each server, all broken alike. */
public final class ServerProxies implements AutoCloseable {
    private final Map<String, FaultProxy> proxies;

    private ServerProxies(Map<String, FaultProxy> proxies) {
        this.proxies = proxies;
    }

    /**
     * Starts a proxy before each of these servers, {@code host:port}.
     *
     * @throws IOException if one cannot be started; then none is
     */
    public static ServerProxies before(List<String> servers) throws IOException {
        Map<String, FaultProxy> proxies = new LinkedHashMap<>();
        try {
            for (String server : servers) {
                int colon = server.lastIndexOf(':');
                String host = server.substring(0, colon).replaceAll("^\\[|\\]$", "");
                int port = Integer.parseInt(server.substring(colon + 1));
                proxies.put(server, FaultProxy.to(new InetSocketAddress(host, port)));
            }
        } catch (IOException | RuntimeException e) {
            proxies.values().forEach(FaultProxy::close);
            throw e;
        }
        return new ServerProxies(proxies);
    }

    /** The servers of a URL as {@code host:port}, but for those whose port it leaves out; none of an opaque URL. */
    public static List<String> servers(LockUrl url) {
        List<String> servers = new ArrayList<>();
        for (LockUrl.Host host : url.isOpaque() ? List.<LockUrl.Host>of() : url.hosts()) {
            host.port().ifPresent(port -> servers.add(host.toString()));
        }
        return servers;
    }

    /** Where each server is reached from now on. */
    public Map<String, String> addresses() {
        Map<String, String> addresses = new LinkedHashMap<>();
        proxies.forEach((server, proxy) -> addresses.put(server, address(proxy)));
        return addresses;
    }

    private static String address(FaultProxy proxy) {
        InetSocketAddress address = proxy.address();
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /**
     * The same locks by way of these proxies.
     *
     * @param mapped whether the provider takes {@link AddressMap#OPTION}, which reaches also what servers announce
     */
    public LockUrl through(LockUrl url, boolean mapped) {
        if (!mapped) {
            return LockUrl.parse(ProxiedUrl.of(url, addresses()));
        }
        String text = url.reveal();
        return LockUrl.parse(
                text + (text.contains("?") ? "&" : "?") + AddressMap.OPTION.name() + "=" + new AddressMap(addresses()));
    }

    /** Does something to all of them. */
    public void all(Consumer<FaultProxy> what) {
        proxies.values().forEach(what);
    }

    /** How many connections stand. */
    public int connections() {
        return proxies.values().stream().mapToInt(FaultProxy::connections).sum();
    }

    @Override
    public void close() {
        all(FaultProxy::close);
    }
}
