// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;

/** Asks the directory of a member's cell for pages of names. */
public final class DirectoryClient implements Machine {
    private static final int STATUS = 0;

    /** How long the session is kept for an answer, as if this were a waiter; nanoseconds. */
    static final long TTL = 10_000_000_000L;

    private final Key key;
    private final StatusClient questions;
    private boolean awaiting;

    /** @param key the directory's */
    public DirectoryClient(Key key) {
        this(key, new StatusClient(key, STATUS));
    }

    private DirectoryClient(Key key, StatusClient questions) {
        this.key = key;
        this.questions = questions;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage answer) {
            questions.received(answer, turn);
        }
        settle(turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall question) {
            questions.called(question, turn);
        } else if (call instanceof ClientView.Dismissed) {
            questions.dismissed(turn);
        } else if (call instanceof ClientView.SessionOpen) {
            questions.opened(turn);
        } else if (call instanceof ClientView.Unreachable member) {
            questions.unreachable(member, turn);
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        questions.due(turn);
        settle(turn);
    }

    private void settle(Turn turn) {
        if (awaiting == questions.isEmpty()) {
            awaiting = !awaiting;
            if (awaiting) {
                turn.client().await(key, TTL);
            } else {
                turn.client().unawait(key, TTL);
            }
        }
    }

    @Override
    public boolean atRest() {
        return !awaiting;
    }

    @Override
    public DirectoryClient copy() {
        DirectoryClient copy = new DirectoryClient(key, questions.copy());
        copy.awaiting = awaiting;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        questions.encode(out);
        out.put(awaiting);
    }
}
