// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.simulator.LeaseUser.Hold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What all clients have: the words that serve them without a message, and what their users hold. */
final class Holdings implements AuthorityExclusion.Believers, PermitBounds.Believed {
    /** A word, and the cell that it came from. */
    static final class Word {
        private final GrantHandle grant;
        private final SimCell cell;
        private boolean shares;

        Word(GrantHandle grant, SimCell cell) {
            this.grant = grant;
            this.cell = cell;
        }

        GrantHandle grant() {
            return grant;
        }

        SimCell cell() {
            return cell;
        }

        /** In which mode its client can use it. */
        LockMode mode() {
            return shares ? LockMode.SHARED : grant.mode();
        }

        private boolean believed() {
            return !grant.closed() && grant.deadline() - cell.node().clock() > 0;
        }
    }

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

    /** Its user has given up what it held alone, and waits to share it: readers may be granted before it hears so. */
    void shares(Hold hold) {
        List<Word> open = words(hold.node, hold.word.key());
        for (int w = 0; open != null && w < open.size(); w++) {
            if (open.get(w).grant.equals(hold.word)) {
                open.get(w).shares = true;
            }
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
    public long believed(String name, long except) {
        long permits = 0;
        for (int i = 1; i < words.size(); i++) {
            List<Word> open = words.get(i).get(name);
            for (int w = 0; open != null && w < open.size(); w++) {
                Word word = open.get(w);
                permits += word.believed() && word.grant.token() != except ? word.grant.permits() : 0;
            }
        }
        return permits;
    }

    @Override
    public @Nullable String otherThan(Grant grant) {
        for (int i = 1; i < words.size(); i++) {
            List<Word> open = words.get(i).get(grant.name());
            for (int w = 0; open != null && w < open.size(); w++) {
                Word word = open.get(w);
                boolean own = i == grant.client() && Seats.granter(word.cell()) == grant.member();
                boolean excludes = !own && !Grant.together(word.mode(), grant.mode());
                if (excludes && word.believed()) {
                    return "client" + i;
                }
            }
        }
        return null;
    }
}
