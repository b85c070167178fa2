// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Where a candidate is reached, as it says in its metadata. */
final class GroupAddress {
    /** Its key in the metadata. */
    static final String KEY = "group";

    private static final int PORTS = 1 << 16;

    private GroupAddress() {}

    /** As {@code host:port}; not resolved. */
    static InetSocketAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            String host = text.substring(0, Math.max(0, colon));
            if (port > 0 && port < PORTS && !host.isEmpty()) {
                return InetSocketAddress.createUnresolved(host, port);
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IllegalArgumentException("The address of a candidate is host:port, with a port of 1 to " + (PORTS - 1)
                + ", not '" + text + "'.");
    }

    /** Of a socket that listens, unless another one is to be said. */
    static String of(String said, InetAddress host, int port) {
        if (!said.isEmpty()) {
            return said;
        }
        String address = host.getHostAddress();
        return (address.indexOf(':') >= 0 ? "[" + address + "]" : address) + ":" + port;
    }
}
