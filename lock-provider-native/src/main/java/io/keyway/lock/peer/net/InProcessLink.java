// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a link between a client and a member that its own process hosts, without a socket: the frames of a turn go
 * to the loop of the other end as they are. To the sessions at both ends it is a link like others, which say hello,
 * prove themselves, number their messages and believe by echoes. In tasks of the loop of this end only.
 */
final class InProcessLink implements CellLoop.Link {
    private static final Logger LOG = LoggerFactory.getLogger(InProcessLink.class);
    /** In most turns one frame is said. */
    private static final int FEW = 2;

    private final CellLoop cell;
    private final long number;
    /** Who takes the hello; null at the member's end. */
    private final @Nullable MemberAcceptor acceptor;
    /** Null at the client's end until that has said hello. */
    private @Nullable InProcessLink other;

    private List<Frame> said = new ArrayList<>(FEW);
    private boolean over;
    private boolean welcomed;

    private InProcessLink(
            CellLoop cell, long number, @Nullable MemberAcceptor acceptor, @Nullable InProcessLink other) {
        this.cell = cell;
        this.number = number;
        this.acceptor = acceptor;
        this.other = other;
    }

    /** Opens that link of a client's cell, in a task of its loop: the cell gets Opened, and Closed when it ends. */
    static void open(CellLoop client, long number, MemberAcceptor acceptor) {
        client.opened(number, new InProcessLink(client, number, acceptor, null));
    }

    @Override
    public void send(Frame frame) {
        if (!over) {
            welcomed |= frame instanceof Welcome;
            said.add(frame);
        }
    }

    @Override
    public boolean isOpen() {
        return welcomed && !over;
    }

    @Override
    public void flush() {
        if (over || said.isEmpty()) {
            return;
        }
        List<Frame> frames = said;
        said = new ArrayList<>(FEW);
        try {
            InProcessLink known = other;
            InProcessLink to = known == null ? meet(frames.get(0)) : known;
            to.cell.leave(() -> to.take(frames));
        } catch (RejectedExecutionException e) {
            over = true;
            fail("the other end has gone");
        }
    }

    /** The first frame says which cell is meant. */
    private InProcessLink meet(Frame first) {
        MemberAcceptor to = Objects.requireNonNull(acceptor);
        InProcessLink made = new InProcessLink(to.cell((Hello) first), to.nextLink(), null, this);
        other = made;
        made.cell.leave(() -> made.cell.opened(made.number, made));
        return made;
    }

    private void take(List<Frame> frames) {
        for (Frame frame : frames) {
            if (!over) {
                welcomed |= frame instanceof Welcome;
                cell.arrived(number, frame);
            }
        }
    }

    /** In a later task: the cell may be in a turn, or at its end. */
    private void fail(String why) {
        try {
            cell.leave(() -> cell.closed(number, why));
        } catch (RejectedExecutionException e) {
            LOG.trace("both ends have gone", e);
        }
    }

    @Override
    public void hangUp() {
        flush();
        InProcessLink to = other;
        if (over || to == null) {
            over = true;
            return;
        }
        over = true;
        try {
            to.cell.leave(to::left);
        } catch (RejectedExecutionException e) {
            LOG.trace("the other end has gone before", e);
        }
    }

    private void left() {
        if (!over) {
            over = true;
            cell.closed(number, "the other side closed the connection");
        }
    }
}
