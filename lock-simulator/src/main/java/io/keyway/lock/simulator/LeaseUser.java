// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.service.GrantHandle;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** One thread of one client's program: what it does now, what it holds, and what it does next. */
final class LeaseUser {
    /** A user's hold of a word, as the façade would answer for it. */
    static final class Hold extends Use {
        final SimNode node;
        final SimCell cell;
        final GrantHandle word;

        Hold(SimCell cell, long token, GrantHandle word, int capacity) {
            super(
                    word.key().id(),
                    Seats.granter(cell),
                    cell.node().index(),
                    token,
                    word.ttl(),
                    word.mode(),
                    word.permits(),
                    capacity);
            this.node = cell.node();
            this.cell = cell;
            this.word = word;
        }

        @Override
        boolean believes() {
            return word.holds(token, node.clock());
        }

        @Override
        boolean cached() {
            return token != word.token();
        }

        @Override
        long deadline() {
            return word.deadline();
        }

        @Override
        long clock() {
            return node.clock();
        }
    }

    final SimNode node;
    final int index;
    final ArrayDeque<Act> later = new ArrayDeque<>();

    @Nullable
    Act act;

    @Nullable
    Hold hold;

    @Nullable
    Hold lost;

    long request;
    long releasing;

    /** The request for another mode of what it holds; 0 if it wants none. */
    long change;

    /** The cell that is to confirm the release. */
    @Nullable
    SimCell releasingAt;

    long step;

    LeaseUser(SimNode node, int index) {
        this.node = node;
        this.index = index;
    }

    /** What it does, in a line; empty if nothing. */
    String state() {
        Act now = act;
        if (now == null) {
            return "";
        }
        Hold has = hold;
        return has == null
                ? now.verb() + " n" + now.name() + ", request " + request
                : (releasing == 0 ? "holds " : "releases ") + has.name + " with token " + has.token;
    }

    @Override
    public String toString() {
        return node + " user " + index + (act == null ? "" : " in " + act);
    }
}
