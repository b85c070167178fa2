// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The links of a member that have not proved themselves: no more of them than the limit, none for longer than the timeout. */
final class HalfOpen {
    /** What a hello left: nothing but itself, and the nonce that it was answered with. */
    record Half(long until, @Nullable Hello hello, @Nullable Nonce nonce, int wire) {}

    private final LinkedHashMap<Long, Half> links = new LinkedHashMap<>();

    int size() {
        return links.size();
    }

    void opened(long link, long until) {
        links.put(link, new Half(until, null, null, 0));
    }

    @Nullable
    Half get(long link) {
        return links.get(link);
    }

    void greeted(long link, Half half, Hello hello, Nonce nonce, int wire) {
        links.replace(link, new Half(half.until(), hello, nonce, wire));
    }

    void remove(long link) {
        links.remove(link);
    }

    /** The links on which a member of that id has said hello. */
    List<Long> saidHello(String from) {
        List<Long> said = new ArrayList<>();
        links.forEach((link, half) -> {
            if (half.hello() != null && half.hello().from().equals(from)) {
                said.add(link);
            }
        });
        return said;
    }

    /** The one that was opened first; all have the same time. */
    Map.@Nullable Entry<Long, Half> oldest() {
        return links.isEmpty() ? null : links.entrySet().iterator().next();
    }

    void shift(long nanos) {
        links.replaceAll((link, half) -> new Half(half.until() + nanos, half.hello(), half.nonce(), half.wire()));
    }

    HalfOpen copy() {
        HalfOpen copy = new HalfOpen();
        copy.links.putAll(links);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(links.size());
        for (Map.Entry<Long, Half> entry : links.entrySet()) {
            Half half = entry.getValue();
            out.put(entry.getKey()).time(half.until()).put(half.wire());
            out.value(half.hello()).value(half.nonce());
        }
    }
}
