// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import java.util.Locale;

/**
 * A member, by the address under which the cluster's member list names it. It is an identity first: names are spread by
 * it, and clients that reach the member under another address use this one all the same.
 *
 * @param host a host name in lower case, an IPv4 address, or an IPv6 address without brackets
 * @param port 1 to 65535
 */
public record NodeId(String host, int port) implements Comparable<NodeId> {
    private static final int MOST_HOST = 255;

    public NodeId {
        host = host.toLowerCase(Locale.ROOT);
        if (host.isEmpty() || host.length() > MOST_HOST || !host.chars().allMatch(NodeId::allowed)) {
            throw new IllegalArgumentException("\"" + host + "\" is not a host name or address");
        }
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port " + port + " of " + host + " is outside 1 to 65535");
        }
    }

    private static boolean allowed(int letter) {
        return letter > ' ' && letter < 0x7f && "[]/,?#@".indexOf(letter) < 0;
    }

    /**
     * Reads {@code host:port}, an IPv6 address in brackets.
     *
     * @throws IllegalArgumentException if it is anything else, with what is wrong
     */
    public static NodeId parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? text : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                    "\"" + text + "\": an IPv6 address stands in brackets, as in [::1]:7400");
        }
        if (colon < 0) {
            throw new IllegalArgumentException("\"" + text + "\" has no port: write host:port, as in a:7400");
        }
        int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + text + "\" has no number after its colon: write host:port", e);
        }
        return new NodeId(host, port);
    }

    /** Whether that is written as ids of members are. */
    public static boolean isOne(String text) {
        try {
            return parse(text).toString().equals(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @Override
    public int compareTo(NodeId other) {
        int byHost = host.compareTo(other.host);
        return byHost != 0 ? byHost : Integer.compare(port, other.port);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
