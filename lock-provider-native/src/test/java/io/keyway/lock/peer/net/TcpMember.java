// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.FrameCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A member without a disk: some cells, each on a loop of its own, behind one port of the loopback address. */
final class TcpMember implements AutoCloseable {
    static final String CLUSTER = "c";
    private static final AtomicLong CLIENTS = new AtomicLong();

    /** What it wrote into its log about connections. */
    final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();

    final Cells cells;
    final MemberAcceptor acceptor;
    private final Security security;
    private final LoopThread accepting = new LoopThread("accepting");
    private final List<LoopThread> threads = new ArrayList<>();
    private final List<CellLoop> loops = new ArrayList<>();

    TcpMember(int shards, Security security, MemberAcceptor.Limits limits) throws IOException {
        this.security = security;
        this.cells = cells(security);
        List<Shard> places = new ArrayList<>();
        for (int i = 0; i < shards; i++) {
            LoopThread thread = new LoopThread("cell-" + i);
            Membership membership =
                    new Membership("m", List.of("m"), i, shards, false, 0, Membership.LARGEST_EPOCH - 1);
            Cell cell = cells.member(membership, name -> true, 1, System.nanoTime(), Horizon.NONE);
            CellLoop loop = new CellLoop(
                    thread.loop(), cell, new NoDisk(), Duration.ofMillis(100).toNanos());
            threads.add(thread);
            loops.add(loop);
            places.add(new Shard(loop, new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM))));
        }
        this.acceptor = new MemberAcceptor(
                accepting,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                places,
                security,
                new RateLimitedLog("a connection to m", (level, line) -> log.add(line), System::nanoTime),
                limits);
    }

    InetSocketAddress address() {
        return acceptor.address();
    }

    RawPeer connect() throws IOException {
        return new RawPeer(address());
    }

    private static Cells cells(Security security) {
        return new Cells(CLUSTER, Duration.ofSeconds(60), Algorithms.standard(), security.authenticator());
    }

    /** What a client of this cluster says to that cell. */
    SessionFrame.Hello hello(int shard) {
        return hello(cells, shard);
    }

    /** What a client says to the first cell of any such member. */
    static SessionFrame.Hello hello(Security security) {
        return hello(cells(security), 0);
    }

    private static SessionFrame.Hello hello(Cells cells, int shard) {
        long client = CLIENTS.incrementAndGet();
        return new SessionFrame.Hello(
                1,
                1,
                CLUSTER,
                cells.settingsHash(),
                0,
                LeaseKeys.ALGORITHM,
                SessionFrame.Role.CLIENT,
                "",
                "",
                shard,
                new Incarnation(1, client),
                new Nonce(3, client),
                1,
                0,
                0,
                List.of(),
                null);
    }

    /** The same client on another link, with its session. */
    static SessionFrame.Hello again(SessionFrame.Hello hello, long attempt, SessionFrame.Resume resume) {
        return new SessionFrame.Hello(
                hello.wireLow(),
                hello.wireHigh(),
                hello.cluster(),
                hello.settings(),
                hello.members(),
                hello.algorithm(),
                hello.role(),
                hello.from(),
                hello.node(),
                hello.shard(),
                hello.client(),
                new Nonce(4, attempt),
                attempt,
                hello.life(),
                hello.guard(),
                hello.seen(),
                resume);
    }

    /** A client of that cell whose session stands; another cell would refuse it. */
    SessionFrame.Welcome welcomed(RawPeer peer, int shard) throws Exception {
        SessionFrame answer = peer.introduce(hello(shard), security.authenticator());
        if (answer instanceof SessionFrame.Welcome welcome) {
            return welcome;
        }
        throw new AssertionError("no welcome but " + answer);
    }

    @Override
    public void close() {
        acceptor.close();
        accepting.close();
        for (int i = 0; i < loops.size(); i++) {
            threads.get(i).run(loops.get(i)::shut);
            threads.get(i).close();
        }
    }

    private final class NoDisk implements CellLoop.Surroundings {
        @Override
        public void dial(long link) {
            throw new AssertionError("members do not dial");
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            loops.forEach(loop -> loop.post(new Input.Forced(ticket)));
        }

        @Override
        public Optional<Input> failed(Throwable why) {
            throw new AssertionError(why);
        }

        @Override
        public void heard(Notice notice) {
            // Nobody asks.
        }
    }
}
