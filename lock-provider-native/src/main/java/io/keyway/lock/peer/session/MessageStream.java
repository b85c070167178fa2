// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Data;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The numbered messages of one session at one end, in both directions, and when they are sent again; it outlives links.
 *
 * <p>Out: every message keeps its number until the peer acknowledges it, and is sent again from the first
 * unacknowledged one (go-back-N): after a share of the smallest lease, then at growing distances. In: the next number
 * is taken, lower ones are duplicates. A frame beyond the next number is dropped whole, because what its header extends
 * may have been ended by a message that is missing.
 */
final class MessageStream {
    /**
     * So many messages of a member may be on their way to a client: what a client that does not read makes the member's
     * buffers hold, at each attempt to send it.
     */
    static final int WINDOW = 4 * SessionFrame.MAX_MESSAGES;

    enum Fit {
        FITS,
        /** Something is missing before it. */
        GAP,
        /** It acknowledges what was never sent, or has no place at all. */
        BROKEN
    }

    private static final long SHORTEST_DELAY = 20_000_000L;
    private static final long LONGEST_DELAY = 1_000_000_000L;
    private static final int SMALL = 8;
    /** What a burst made larger than that becomes small again when all of it has arrived. */
    private static final int LARGE = 256;

    private @Nullable Message[] ring = new @Nullable Message[SMALL];
    private long acked;
    private long sent;
    private long last;
    private long everSent;
    private long received;
    /** When to send again; {@link Turn#NEVER} if nothing is waited for. */
    private long resendAt = Turn.NEVER;

    private long resendDelay;

    /** Queues a message; returns its number. */
    long add(Message message) {
        if (last - acked == ring.length) {
            @Nullable Message[] larger = new @Nullable Message[ring.length * 2];
            for (long number = acked + 1; number <= last; number++) {
                larger[(int) number & larger.length - 1] = ring[(int) number & ring.length - 1];
            }
            ring = larger;
        }
        last++;
        ring[(int) last & ring.length - 1] = message;
        return last;
    }

    Fit fit(Data frame) {
        if (frame.seq() <= 0 || frame.ack() < 0 || frame.ack() > everSent) {
            return Fit.BROKEN;
        }
        return frame.seq() > received + 1 ? Fit.GAP : Fit.FITS;
    }

    /** True if that message is the next one, which it then no longer is. */
    boolean take(long number) {
        if (number != received + 1) {
            return false;
        }
        received = number;
        return true;
    }

    /** The peer has all messages up to that number; true if that is news. */
    boolean acknowledged(long upTo) {
        if (upTo <= acked) {
            return false;
        }
        while (acked < upTo) {
            acked++;
            ring[(int) acked & ring.length - 1] = null;
        }
        sent = Math.max(sent, acked);
        if (acked == last && ring.length > LARGE) {
            ring = new @Nullable Message[SMALL];
        }
        return true;
    }

    /** What is not acknowledged is to be sent again; true if there is any that was sent. */
    boolean rewind() {
        boolean again = sent > acked;
        sent = acked;
        return again;
    }

    boolean unsent() {
        return sent < last;
    }

    boolean unacknowledged() {
        return acked < last;
    }

    /** True if messages are on their way. */
    boolean inFlight() {
        return acked < sent;
    }

    /** How many more messages may be on their way. */
    int room() {
        return (int) (WINDOW - (sent - acked));
    }

    /** The number of the next message to be sent. */
    long next() {
        return sent + 1;
    }

    long acked() {
        return acked;
    }

    long last() {
        return last;
    }

    long everSent() {
        return everSent;
    }

    long received() {
        return received;
    }

    /** Takes the next unsent messages for a frame. */
    List<Message> send(int max) {
        int count = (int) Math.min(max, last - sent);
        long from = sent;
        sent += count;
        everSent = Math.max(everSent, sent);
        if (count <= 1) {
            return count == 0 ? List.of() : List.of(unacknowledged(sent));
        }
        Message[] batch = new Message[count];
        for (int i = 0; i < count; i++) {
            batch[i] = unacknowledged(from + 1 + i);
        }
        return List.of(batch);
    }

    private Message unacknowledged(long number) {
        Message message = ring[(int) number & ring.length - 1];
        if (message == null) {
            throw new IllegalStateException("message " + number + " is gone; " + acked + " is acknowledged");
        }
        return message;
    }

    // When to send again

    /** The first distance between two attempts, for leases of that ttl. */
    static long resendDelay(long ttl) {
        return Math.min(LONGEST_DELAY, Math.max(SHORTEST_DELAY, ttl / 8));
    }

    /** {@link Turn#NEVER} if nothing is waited for. */
    long resendAt() {
        return resendAt;
    }

    boolean resendDue(long now) {
        return resendAt != Turn.NEVER && now - resendAt >= 0;
    }

    /** Something was sent that wants an answer. */
    void sentAt(long now, long delay) {
        if (resendAt == Turn.NEVER) {
            resendDelay = delay;
            resendAt = now + delay;
        }
    }

    /** It is being sent again; the next time takes twice as long. */
    void resendLater(long now) {
        resendDelay = Math.min(LONGEST_DELAY, resendDelay * 2);
        resendAt = now + resendDelay;
    }

    /** Something was answered; {@code more}: something else is waited for. */
    void progress(long now, long delay, boolean more) {
        resendDelay = delay;
        resendAt = more ? now + delay : Turn.NEVER;
    }

    /** There is no link to send it over. */
    void resendNever() {
        resendAt = Turn.NEVER;
    }

    /** How many messages it has places for. */
    int places() {
        return ring.length;
    }

    MessageStream copy() {
        MessageStream copy = new MessageStream();
        copy.ring = Arrays.copyOf(ring, ring.length);
        copy.acked = acked;
        copy.sent = sent;
        copy.last = last;
        copy.everSent = everSent;
        copy.received = received;
        copy.resendAt = resendAt;
        copy.resendDelay = resendDelay;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(acked).put(sent).put(last).put(everSent).put(received);
        for (long number = acked + 1; number <= last; number++) {
            Message message = ring[(int) number & ring.length - 1];
            if (message != null) {
                out.value(message);
            }
        }
        out.time(resendAt).put(resendAt == Turn.NEVER ? 0 : resendDelay);
    }
}
