// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.wire.LogText;
import io.netty.channel.Channel;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Says in the log what peers do wrong: at most one line a period, however many there are; the next line says how many
 * were left out. From any thread.
 */
final class RateLimitedLog {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitedLog.class);
    private static final long PERIOD_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int LONGEST = 300;

    private final String about;
    private final BiConsumer<Level, String> log;
    private final LongSupplier clock;
    private final AtomicLong next;
    private final AtomicLong leftOut = new AtomicLong();

    /** @param about what the links are, such as "a connection to this host" */
    RateLimitedLog(String about) {
        this(about, (level, line) -> LOG.atLevel(level).log(line), System::nanoTime);
    }

    RateLimitedLog(String about, BiConsumer<Level, String> log, LongSupplier clock) {
        this.about = about;
        this.log = log;
        this.clock = clock;
        this.next = new AtomicLong(clock.getAsLong());
    }

    /**
     * Says it, or counts it.
     *
     * @param channel whose other side is named, if it has an address
     * @param what went wrong; what a peer sent of it is shown without control characters and not at length
     */
    void say(Channel channel, String what) {
        say(Level.WARN, from(channel), what);
    }

    /** As above, of what is named already. */
    void say(String what) {
        say(Level.WARN, "", what);
    }

    /** Says what may be in order, as often. */
    void note(Channel channel, String what) {
        say(Level.INFO, from(channel), what);
    }

    private void say(Level level, String from, String what) {
        long now = clock.getAsLong();
        long due = next.get();
        if (now - due < 0 || !next.compareAndSet(due, now + PERIOD_NANOS)) {
            leftOut.incrementAndGet();
            LOG.debug("{}{} was closed: {}", about, from, shown(what));
            return;
        }
        long others = leftOut.getAndSet(0);
        String more = others == 0 ? "" : " (and " + others + " more since the last line of this kind)";
        log.accept(level, about + from + " was closed: " + shown(what) + more);
    }

    private static String from(Channel channel) {
        String address = channel.parent() == null ? "" : address(channel);
        return address.isEmpty() ? "" : " from " + address;
    }

    /** Of the other end; empty if that has none. */
    static String address(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress address
                ? NetUtil.toSocketAddressString(address)
                : "";
    }

    static String shown(String what) {
        return LogText.shown(what, LONGEST);
    }
}
