// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.spi.Owner;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What one acquire and its release cost at both ends without the operating system: two cells in one thread, their
 * frames written to bytes and read again, without a cache.
 */
class PairCostTest {
    private static final int ALGORITHM = LeaseKeys.ALGORITHM;
    private static final long TTL = 8_000_000_000L;
    private static final SessionSettings SETTINGS =
            SessionSettings.of("cost", 1, 2, ALGORITHM, 2 * TTL, Authenticator.none());
    private static final Owner OWNER = new Owner("a client of this test", Map.of());
    private static final Key NAME = new Key(ALGORITHM, "orders/4711");
    /** The one link, as the member knows it. */
    private static final long LINK = 1;

    /** One end of the link: its cell, and the bytes that are on their way to it. */
    private abstract static class End implements Driver {
        private final Cell cell;
        private final FrameCodec codec = new FrameCodec(new LockCodec(ALGORITHM));
        final FrameReader reader = new FrameReader(codec);
        private final ByteBuffer in = ByteBuffer.allocate(2 * FrameCodec.MAX_FRAME);
        long link = LINK;
        long frames;

        @Nullable
        End other;

        End(Cell cell) {
            this.cell = cell;
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
        }

        /** True if anything had come. */
        boolean read() throws WireException {
            in.flip();
            boolean any = false;
            for (SessionFrame next = reader.next(in); next != null; next = reader.next(in)) {
                cell.input(new Input.Arrived(link, next), this);
                any = true;
            }
            in.compact();
            if (any) {
                cell.flush(this);
            }
            return any;
        }

        @Override
        public long clock() {
            return System.nanoTime();
        }

        @Override
        public long random() {
            return 4711;
        }

        @Override
        public void dial(long asked) {
            link = asked;
        }

        @Override
        public void transmit(long to, Frame frame) {
            if (frame instanceof SessionFrame.Welcome) {
                reader.open();
            }
            frames++;
            if (other != null) {
                codec.encode((SessionFrame) frame, other.in::put);
            }
        }

        @Override
        public void hangUp(long which) {
            throw new AssertionError("link " + which + " was hung up");
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            throw new AssertionError("nothing is kept");
        }

        @Override
        public void deliver(Notice notice) {}
    }

    private static final class Client extends End {
        private @Nullable GrantHandle held;
        private boolean released;

        Client() {
            super(new Cell(
                    new LeaseAlgorithm(LockSettings.defaults().withoutCache()).clientMachines(),
                    new ClientSession(SETTINGS, new Incarnation(2, 2), List.of())));
        }

        @Override
        public void deliver(Notice notice) {
            if (notice instanceof LockNotice.Granted granted) {
                held = granted.handle();
            } else if (notice instanceof LockNotice.ReleaseDone) {
                released = true;
            }
        }
    }

    private final End member = new End(new Cell(
            new LeaseAlgorithm().memberMachines(all -> true),
            new MemberSessions(SETTINGS, "a:1", new Incarnation(1, 1), 1, System.nanoTime(), Horizon.NONE))) {};
    private final Client client = new Client();
    private long requests;

    private void settle() throws WireException {
        while (member.read() || client.read()) {}
    }

    private void command(Call call) throws WireException {
        client.input(new Input.Command(NAME, call));
        settle();
    }

    private void acquire() throws WireException {
        client.held = null;
        command(new LockCall.Acquire(++requests, LockMode.EXCLUSIVE, 1, 1, TTL, OWNER, true, false, 0, 0, null));
    }

    private void release() throws WireException {
        GrantHandle handle = client.held;
        if (handle == null) {
            throw new AssertionError("not granted");
        }
        client.released = false;
        handle.tryRelease(handle.token(), System.nanoTime());
        command(new LockCall.Release(handle.token()));
        assertThat(client.released).as("released").isTrue();
    }

    private void pairs(int count) throws WireException {
        for (int i = 0; i < count; i++) {
            acquire();
            release();
        }
    }

    private void connect() throws WireException {
        member.other = client;
        client.other = member;
        acquire();
        member.input(new Input.Opened(LINK));
        client.input(new Input.Opened(client.link));
        settle();
        release();
    }

    @Test
    void aPairIsTwoFramesEachWayAndLittleGarbage() throws WireException {
        connect();
        pairs(2_000);
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int count = 1_000;
        long sent = member.frames + client.frames;
        long before = thread.getCurrentThreadAllocatedBytes();
        pairs(count);
        long bytes = (thread.getCurrentThreadAllocatedBytes() - before) / count;
        assertThat(member.frames + client.frames - sent).isEqualTo(4L * count);
        assertThat(bytes)
                .as("bytes of a pair, at both ends; 3,000 when this was written")
                .isLessThan(6_000);
    }

    @Test
    @Tag("soak")
    void aPairTakesMicroseconds() throws WireException {
        connect();
        pairs(300_000);
        long best = Long.MAX_VALUE;
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int round = 0; round < 5; round++) {
            long before = thread.getCurrentThreadCpuTime();
            pairs(100_000);
            best = Math.min(best, (thread.getCurrentThreadCpuTime() - before) / 100_000);
        }
        System.out.println("A pair took " + best + " ns of processor time at both ends together.");
        assertThat(best).as("ten times what it was when this was written").isLessThan(25_000);
    }
}
