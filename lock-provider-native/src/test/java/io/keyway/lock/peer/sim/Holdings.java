// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.sim.LeaseUser.Hold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What all clients have: the words that serve them without a message, and what their users hold. */
final class Holdings implements AuthorityExclusion.Believers {
    /** A word, and the cell that it came from. */
    record Word(GrantHandle grant, SimCell cell) {}

    private final List<Map<String, List<Word>>> words = new ArrayList<>();
    private final List<List<Use>> holds = new ArrayList<>();

    Holdings(SimWorld world) {
        for (int i = 0; i <= world.clients(); i++) {
            words.add(new HashMap<>());
            holds.add(new ArrayList<>());
        }
    }

    /** The words of a client for a name; null if there never was one. */
    @Nullable
    List<Word> words(SimNode client, Key key) {
        return words.get(client.index()).get(key.id());
    }

    void open(SimCell cell, GrantHandle grant) {
        List<Word> open =
                words.get(cell.node().index()).computeIfAbsent(grant.key().id(), fresh -> new ArrayList<>(1));
        for (int i = 0; i < open.size(); i++) {
            if (open.get(i).grant().equals(grant)) {
                return;
            }
        }
        open.add(new Word(grant, cell));
    }

    void closed(SimCell cell, GrantHandle grant) {
        List<Word> open = words(cell.node(), grant.key());
        if (open != null) {
            open.removeIf(word -> word.grant().equals(grant));
        }
    }

    void began(Hold hold) {
        holds.get(hold.client).add(hold);
    }

    void finished(Use hold) {
        holds.get(hold.client).remove(hold);
    }

    /** What the users of that client hold. */
    List<Use> of(SimNode client) {
        return holds.get(client.index());
    }

    /** The process is gone. */
    void ended(SimNode client) {
        words.get(client.index()).clear();
    }

    @Override
    public @Nullable String otherThan(String name, int client, int member) {
        for (int i = 1; i < words.size(); i++) {
            List<Word> open = words.get(i).get(name);
            for (int w = 0; open != null && w < open.size(); w++) {
                Word word = open.get(w);
                SimNode node = word.cell().node();
                boolean own = i == client && Seats.granter(word.cell()) == member;
                if (!own && !word.grant().closed() && word.grant().deadline() - node.clock() > 0) {
                    return "client" + i;
                }
            }
        }
        return null;
    }
}
