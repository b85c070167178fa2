// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.session.ClientSession;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A line over sockets: it dials several addresses in turn, until one answers. Its state is looked at on the event
 * thread only.
 */
final class SocketMemberConnection extends MemberConnection implements CellLoop.Surroundings {
    /** Who has lines; called on the event thread. */
    interface Operator {
        void heard(SocketMemberConnection line, Notice notice);

        /** A batch of turns is over. */
        void turned(SocketMemberConnection line, ClientSession session);
    }

    private static final Logger LOG = LoggerFactory.getLogger(SocketMemberConnection.class);

    private final CellLoop loop;
    private final Operator operator;
    private final UnaryOperator<NodeId> dialled;
    private final HostNames names;
    private final Connector connector;
    private final CountDownLatch goodbye = new CountDownLatch(1);
    private List<NodeId> addresses;
    private int next;
    private boolean connected;

    /**
     * @param server whom this is about, in messages
     * @param node the member that it is for; null while any member will do
     * @param addresses where members say they are, tried in this order, again and again
     * @param dialled where such an address is reached
     */
    SocketMemberConnection(
            EventLoop events,
            LongSupplier clock,
            Cell cell,
            String server,
            @Nullable NodeId node,
            List<NodeId> addresses,
            UnaryOperator<NodeId> dialled,
            HostNames names,
            Function<CellLoop, Connector> connectors,
            Operator operator) {
        super(server, node);
        this.addresses = addresses;
        this.dialled = dialled;
        this.names = names;
        this.operator = operator;
        this.loop = new CellLoop(events, cell, this, Long.MAX_VALUE, clock);
        this.connector = connectors.apply(loop);
    }

    CellLoop loop() {
        return loop;
    }

    @Override
    public void post(Input input) {
        loop.post(input);
    }

    /** The address at which it answered comes first. */
    @Override
    protected void settled(NodeId member) {
        super.settled(member);
        NodeId good = addresses.get(Math.floorMod(next - 1, addresses.size()));
        addresses = good.equals(member) ? List.of(member) : List.of(good, member);
        next = 0;
    }

    @Override
    public void dial(long link) {
        NodeId address = dialled.apply(addresses.get(Math.floorMod(next++, addresses.size())));
        names.find(
                address.host(),
                address.port(),
                found -> connector.connect(link, found, why -> loop.refused(link, why)),
                why -> loop.refused(link, why));
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        throw new IllegalStateException("clients have nothing to persist");
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        LOG.error("all leases of the session with {} are lost, since this client has failed", server(), why);
        return Optional.of(new Input.Reborn(0, 0, "this client has failed: " + why));
    }

    @Override
    public void heard(Notice notice) {
        operator.heard(this, notice);
    }

    @Override
    public void turned(SessionLayer sessions) {
        ClientSession session = (ClientSession) sessions;
        operator.turned(this, session);
        if (session.closed()) {
            goodbye.countDown();
        }
    }

    CountDownLatch goodbye() {
        return goodbye;
    }

    /** True if a connection stands now that did not, or the other way round. */
    boolean changes(boolean now) {
        boolean changed = now != connected;
        connected = now;
        return changed;
    }

    boolean connected() {
        return connected;
    }
}
