// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.session.SessionFrame;
import java.util.Queue;

/** Says one hello on each link and writes down what becomes of it. */
final class Listening implements SessionLayer {
    private final SessionFrame.Hello hello;
    private final Queue<String> outcomes;

    /** @param outcomes get "open" for a hello that is answered, else why the link is closed */
    Listening(SessionFrame.Hello hello, Queue<String> outcomes) {
        this.hello = hello;
        this.outcomes = outcomes;
    }

    Cell cell() {
        MachineFactory algorithm = new LeaseAlgorithm().clientMachines();
        return new Cell(algorithm, this);
    }

    @Override
    public void begin(SessionTurn turn) {
        // Nothing is ever due.
    }

    @Override
    public void opened(long link, SessionTurn turn) {
        turn.transmit(link, hello);
    }

    @Override
    public void arrived(long link, Frame frame, SessionTurn turn) {
        outcomes.add(frame instanceof SessionFrame.Challenge ? "open" : frame.toString());
    }

    @Override
    public void closed(long link, String why, SessionTurn turn) {
        outcomes.add("closed: " + why);
    }

    @Override
    public void died(long session, SessionTurn turn) {
        throw new AssertionError("nobody dies");
    }

    @Override
    public void stalled(long nanos) {
        // Nothing is ever due.
    }

    @Override
    public void closing(SessionTurn turn) {
        // There is nothing to end.
    }

    @Override
    public void forced(long ticket, SessionTurn turn) {
        throw new AssertionError("nothing is forced");
    }

    @Override
    public long send(Peer to, Message message) {
        throw new AssertionError("no machine sends");
    }

    @Override
    public void flush(SessionTurn turn) {
        // Frames are sent at once.
    }

    @Override
    public SessionLayer copy() {
        throw new AssertionError("nobody copies");
    }

    @Override
    public void encode(StateEncoder out) {
        throw new AssertionError("nobody compares");
    }
}
