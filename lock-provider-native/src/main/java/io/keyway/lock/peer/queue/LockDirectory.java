// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * The names of one cell whose managers are not at rest, in order. Managers join and leave; administrators read pages.
 */
public final class LockDirectory implements Machine {
    /** The most characters of names in one page, so that it fits into a frame. */
    private static final int MAX_CHARACTERS = 16_000;

    private final TreeSet<String> names = new TreeSet<>();

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.ListNames list) {
            turn.send(from, page(list));
        }
    }

    private LockMessage.Page page(LockMessage.ListNames list) {
        int max = Math.max(1, Math.min(list.max(), LockCodec.MAX_PAGE));
        List<String> page = new ArrayList<>();
        int characters = 0;
        boolean afterComesFirst = list.after().compareTo(list.prefix()) < 0;
        for (String name : afterComesFirst ? names.tailSet(list.prefix()) : names.tailSet(list.after(), false)) {
            if (!name.startsWith(list.prefix())) {
                break;
            }
            if (page.size() == max || characters > MAX_CHARACTERS) {
                return new LockMessage.Page(list.key(), list.request(), List.copyOf(page), true);
            }
            page.add(name);
            characters += name.length();
        }
        return new LockMessage.Page(list.key(), list.request(), List.copyOf(page), false);
    }

    /** All of them, in order. */
    Iterable<String> names() {
        return names;
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall.Joined joined) {
            names.add(joined.name());
        } else if (call instanceof LockCall.Left left) {
            names.remove(left.name());
        }
    }

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return names.isEmpty();
    }

    @Override
    public LockDirectory copy() {
        LockDirectory copy = new LockDirectory();
        copy.names.addAll(names);
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(names.size());
        names.forEach(out::put);
    }
}
