// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.channel.Channel;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have not proved themselves, of all cells of a member together. Of too many from one address, or
 * from all, the oldest goes (of the address that has most): whoever means it proves itself at once, and nobody can keep
 * others out by coming first.
 *
 * <p>On the accepting loop's thread, but for {@link Half#arrived}.
 */
final class HalfOpenLinks {
    private static final int BYTES_OF_A_NETWORK = 8;

    private final int most;
    private final int mostPerAddress;
    private final Map<Object, ArrayDeque<Half>> byAddress = new HashMap<>();
    private int size;

    HalfOpenLinks(int most, int mostPerAddress) {
        this.most = most;
        this.mostPerAddress = mostPerAddress;
    }

    /** One of them. A channel on its way to another loop must not be touched: it closes itself when it arrives. */
    static final class Half {
        /** Told to the pipeline of one that has to go. */
        enum Eviction {
            EVICTED;

            String words() {
                return "it was the oldest of too many that had not proved themselves";
            }
        }

        static final Eviction EVICTED = Eviction.EVICTED;

        private final Object address;
        private final Channel channel;
        private volatile boolean moving;
        private volatile boolean doomed;

        private Half(Object address, Channel channel) {
            this.address = address;
            this.channel = channel;
        }

        void moves() {
            moving = true;
        }

        /** On the new loop's thread; false if the channel is to be closed. */
        boolean arrived() {
            moving = false;
            return !doomed;
        }

        /** It is to be closed when it arrives. */
        void doom() {
            doomed = true;
        }

        private void evict() {
            doom();
            if (!moving) {
                channel.pipeline().fireUserEventTriggered(EVICTED);
            }
        }
    }

    int size() {
        return size;
    }

    /** Takes one more, and ends another if that is too many. */
    Half opened(Channel channel) {
        Half half = new Half(origin(channel.remoteAddress()), channel);
        ArrayDeque<Half> same = byAddress.computeIfAbsent(half.address, address -> new ArrayDeque<>());
        Half oldest = same.size() >= mostPerAddress ? same.peekFirst() : size >= most ? oldestOfMost() : null;
        same.addLast(half);
        size++;
        if (oldest != null) {
            remove(oldest);
            oldest.evict();
        }
        return half;
    }

    /** It has proved itself, or has ended. */
    void remove(Half half) {
        ArrayDeque<Half> same = byAddress.get(half.address);
        if (same != null && same.remove(half)) {
            size--;
            if (same.isEmpty()) {
                byAddress.remove(half.address);
            }
        }
    }

    void closeAll() {
        List<Half> all = new ArrayList<>();
        byAddress.values().forEach(all::addAll);
        byAddress.clear();
        size = 0;
        all.forEach(Half::evict); // each that closes at once comes back to be removed
    }

    private @Nullable Half oldestOfMost() {
        ArrayDeque<Half> longest = null;
        for (ArrayDeque<Half> same : byAddress.values()) {
            if (longest == null || same.size() > longest.size()) {
                longest = same;
            }
        }
        return longest == null ? null : longest.peekFirst();
    }

    /** An address; of IPv6 the network, since one machine has all addresses of its own. */
    private static Object origin(@Nullable SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress socket)) {
            return "";
        }
        InetAddress address = socket.getAddress();
        return address instanceof Inet6Address
                ? ByteBuffer.wrap(address.getAddress(), 0, BYTES_OF_A_NETWORK).slice()
                : address;
    }
}
