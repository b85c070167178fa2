// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import io.keyway.lock.LockUrl;
import java.util.Map;

/** The URL of a client that reaches servers through proxies: the same with other hosts. */
public final class ProxiedUrl {
    private ProxiedUrl() {}

    /**
     * The text of that URL with other hosts, secrets included.
     *
     * @param proxies where to reach each {@code host:port}; what is not in it stays
     */
    public static String of(LockUrl url, Map<String, String> proxies) {
        String text = url.reveal();
        int authority = text.indexOf("://") + 3;
        int hosts = text.indexOf('@', authority);
        int end = end(text, authority);
        int from = hosts >= 0 && hosts < end ? hosts + 1 : authority;
        String[] servers = text.substring(from, end).split(",", -1);
        for (int i = 0; i < servers.length; i++) {
            servers[i] = proxies.getOrDefault(url.hosts().get(i).toString(), servers[i]);
        }
        return text.substring(0, from) + String.join(",", servers) + text.substring(end);
    }

    private static int end(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (text.charAt(i) == '/' || text.charAt(i) == '?') {
                return i;
            }
        }
        return text.length();
    }
}
