// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Where servers are reached that announce other addresses of themselves, as behind a NAT, a container's port or a
 * proxy. A provider whose clients learn addresses from its servers lists {@link #OPTION} among its options and dials
 * {@link #reach(String)} of each.
 *
 * @param addresses from {@code host:port} as announced to {@code host:port} to be dialled
 */
public record AddressMap(Map<String, String> addresses) {
    /** Maps nothing. */
    public static final AddressMap NONE = new AddressMap(Map.of());

    /** The option, for the providers that obey it. */
    public static final Option<AddressMap> OPTION = Option.parsed(
                    "addressMap", AddressMap.class, AddressMap::parse, "announced>dialled, joined by commas")
            .withDefault(NONE)
            .withDescription("where to reach servers that announce other addresses, as in "
                    + "a:7400>127.0.0.1:9001,b:7400>127.0.0.1:9002");

    /**
     * Copies the map.
     *
     * @param addresses see the record
     */
    public AddressMap {
        addresses = Map.copyOf(addresses);
    }

    /**
     * Parses {@code a:7400>127.0.0.1:9001,b:7400>127.0.0.1:9002}.
     *
     * @param text pairs of announced and dialled addresses, joined by commas
     * @return the map
     * @throws IllegalArgumentException if it is something else
     */
    public static AddressMap parse(String text) {
        Map<String, String> addresses = new LinkedHashMap<>();
        for (String pair : text.split(",", -1)) {
            int arrow = pair.indexOf('>');
            if (arrow < 1 || !hasPort(pair.substring(0, arrow)) || !hasPort(pair.substring(arrow + 1))) {
                throw new IllegalArgumentException("\"" + pair
                        + "\" is not of the form host:port>host:port, the announced address before the one to dial");
            }
            if (addresses.put(pair.substring(0, arrow), pair.substring(arrow + 1)) != null) {
                throw new IllegalArgumentException("\"" + pair.substring(0, arrow) + "\" is mapped twice");
            }
        }
        return new AddressMap(addresses);
    }

    private static boolean hasPort(String address) {
        return address.matches("[^>]+:\\d{1,5}");
    }

    /**
     * {@return where the server of that address, {@code host:port}, is reached: at the same if nothing else is said}
     *
     * @param announced {@code host:port} as the server announces it
     */
    public String reach(String announced) {
        return addresses.getOrDefault(announced, announced);
    }

    /** Returns the form that is parsed. */
    @Override
    public String toString() {
        return addresses.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> entry.getKey() + ">" + entry.getValue())
                .collect(Collectors.joining(","));
    }
}
