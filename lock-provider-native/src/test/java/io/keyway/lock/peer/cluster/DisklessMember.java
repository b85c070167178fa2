// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.net.MemberAcceptor;
import io.keyway.lock.peer.net.Shard;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A member of a cluster in this JVM that keeps nothing on disk, and so must not be restarted under holders. */
final class DisklessMember implements AutoCloseable {
    static final int SHARDS = 4;
    static final String CLUSTER = "orders";

    private final NodeId id;
    private final LoopThread io;
    private final List<CellLoop> loops = new ArrayList<>();
    private final MemberAcceptor acceptor;

    DisklessMember(NodeId id, MemberList list, Security security, long epoch) throws IOException {
        this(id, list, security, epoch, Duration.ofSeconds(60));
    }

    DisklessMember(NodeId id, MemberList list, Security security, long epoch, Duration maxTtl) throws IOException {
        this.id = id;
        this.io = new LoopThread("member-" + id);
        List<String> members = list.members().stream().map(NodeId::toString).toList();
        Cells cells =
                new Cells(CLUSTER, maxTtl, Algorithms.standard(), security.authenticator()).among(members, SHARDS);
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < SHARDS; i++) {
            int shard = i;
            Cell cell = cells.member(
                    new Membership(id.toString(), members, shard, SHARDS, false, 0, Membership.LARGEST_EPOCH - 1),
                    name -> list.owner(name).equals(id) && MemberList.shard(name, SHARDS) == shard,
                    epoch,
                    System.nanoTime(),
                    Horizon.NONE);
            CellLoop loop = new CellLoop(
                    io.loop(), cell, new NoDisk(), Duration.ofMillis(100).toNanos());
            loops.add(loop);
            shards.add(new Shard(loop, new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM))));
        }
        acceptor = new MemberAcceptor(
                io,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), id.port()),
                shards,
                security,
                id.toString());
    }

    /** Ids on ports that were free a moment ago. */
    static MemberList list(int members) throws IOException {
        List<NodeId> ids = new ArrayList<>();
        for (int i = 0; i < members; i++) {
            ids.add(new NodeId("127.0.0.1", Ports.free()));
        }
        return new MemberList(ids);
    }

    /** The only member of a cluster that whoever reaches it may use. */
    static DisklessMember alone() throws IOException {
        MemberList list = list(1);
        return new DisklessMember(list.members().get(0), list, Security.insecure(), 1);
    }

    /** Where it is the only member. */
    String url(String options) {
        return "lock:native://" + id + "/" + CLUSTER + options;
    }

    NodeId id() {
        return id;
    }

    @Override
    public void close() {
        acceptor.close();
        io.run(() -> loops.forEach(CellLoop::shut));
        io.close();
    }

    private static final class NoDisk implements CellLoop.Surroundings {
        @Override
        public void dial(long link) {
            throw new AssertionError("members do not dial");
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            throw new AssertionError("nothing is promised");
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
