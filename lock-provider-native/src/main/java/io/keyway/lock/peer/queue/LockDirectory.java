// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The names of one cell whose managers are not at rest, in pages for administrators. It has no state: the cell knows
 * its machines, and only who asks for a page pays for the order, with one look at each name.
 */
public final class LockDirectory implements Machine {
    /** The most characters of names in one page, so that it fits into a frame. */
    private static final int MAX_CHARACTERS = 16_000;

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.ListNames list) {
            turn.send(from, page(list, turn));
        }
    }

    private static LockMessage.Page page(LockMessage.ListNames list, Turn turn) {
        int max = Math.max(1, Math.min(list.max(), LockCodec.MAX_PAGE));
        List<String> first = first(max + 1, list, turn);
        int characters = 0;
        for (int i = 0; i < first.size(); i++) {
            if (i == max || characters > MAX_CHARACTERS) {
                return new LockMessage.Page(list.key(), list.request(), List.copyOf(first.subList(0, i)), true);
            }
            characters += first.get(i).length();
        }
        return new LockMessage.Page(list.key(), list.request(), List.copyOf(first), false);
    }

    /** The first names of those that are asked for, at most so many, in order. */
    private static List<String> first(int most, LockMessage.ListNames list, Turn turn) {
        PriorityQueue<String> lastOnTop = new PriorityQueue<>(most, Comparator.reverseOrder());
        turn.residents(key -> {
            String name = key.id();
            boolean asked = LockKeys.isLock(key) && name.compareTo(list.after()) > 0 && name.startsWith(list.prefix());
            if (asked && lastOnTop.size() < most) {
                lastOnTop.add(name);
            } else if (asked && name.compareTo(lastOnTop.element()) < 0) {
                lastOnTop.remove();
                lastOnTop.add(name);
            }
        });
        List<String> names = new ArrayList<>(lastOnTop);
        names.sort(Comparator.naturalOrder());
        return names;
    }

    @Override
    public void called(Call call, Turn turn) {}

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return true;
    }

    @Override
    public LockDirectory copy() {
        return new LockDirectory();
    }

    @Override
    public void encode(StateEncoder out) {}
}
