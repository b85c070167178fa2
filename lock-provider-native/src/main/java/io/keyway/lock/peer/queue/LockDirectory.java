// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockFields;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * The names of one cell whose managers are not at rest, in pages for administrators. It has no state: the cell knows
 * its machines.
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
        int max = Math.max(1, Math.min(list.max(), LockFields.MAX_PAGE));
        int algorithm = list.key().algorithm();
        String first = list.prefix().compareTo(LockKeys.FIRST_NAME) < 0 ? LockKeys.FIRST_NAME : list.prefix();
        boolean isFirstPage = list.after().compareTo(first) < 0;
        Key from = new Key(algorithm, isFirstPage ? first : list.after());
        List<String> page = new ArrayList<>();
        int characters = 0;
        for (Key key : turn.residents(from, isFirstPage, max + 1)) {
            if (key.algorithm() != algorithm || !key.id().startsWith(list.prefix())) {
                break;
            }
            if (page.size() == max || characters > MAX_CHARACTERS) {
                return new LockMessage.Page(list.key(), list.request(), List.copyOf(page), true);
            }
            page.add(key.id());
            characters += key.id().length();
        }
        return new LockMessage.Page(list.key(), list.request(), List.copyOf(page), false);
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
