// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The links of one client, or of the members among each other, to all members: a proxy each, on a loopback address of this side alone. The JVM of that side gets names resolved to it, so that all sides call a member by
 * the same name and each comes by its own proxy. Needs what Linux has: each address of 127.0.0.0/8 is there.
 */
final class Links implements AutoCloseable {
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final Path hosts;

    /** @param ports at which members listen on 127.0.0.1; member i is {@link #host}(i) with the same port */
    Links(Path directory, int side, List<Integer> ports) throws IOException {
        InetAddress own = InetAddress.getByAddress(new byte[] {127, 1, 0, (byte) (side + 1)});
        StringBuilder names = new StringBuilder(
                "127.0.0.1 localhost " + InetAddress.getLocalHost().getHostName() + "\n");
        for (int i = 0; i < ports.size(); i++) {
            int port = ports.get(i);
            proxies.add(FaultProxy.to(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), new InetSocketAddress(own, port)));
            names.append(own.getHostAddress()).append(' ').append(host(i)).append('\n');
        }
        hosts = Files.writeString(directory.resolve("hosts-" + side), names);
    }

    static String host(int member) {
        return "member" + member + ".test";
    }

    /** What the JVM of this side is started with. */
    List<String> options() {
        return List.of("-Djdk.net.hosts.file=" + hosts);
    }

    /** The link to that member. */
    FaultProxy to(int member) {
        return proxies.get(member);
    }

    /** All of them. */
    List<FaultProxy> all() {
        return proxies;
    }

    void blackHole() {
        proxies.forEach(FaultProxy::blackHole);
    }

    void heal() {
        proxies.forEach(FaultProxy::heal);
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
    }
}
