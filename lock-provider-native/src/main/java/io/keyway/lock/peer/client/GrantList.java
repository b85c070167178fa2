// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.TreeModes;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The grants of one name at one client, in the order of their tokens, whose ranges never overlap. */
final class GrantList extends AbstractList<ClientGrant> {
    private static final ClientGrant[] NONE = {};

    private ClientGrant[] all = NONE;
    private int size;
    /** Why belief may end although the member answers; null if it may not. */
    private @Nullable String clusterDown;

    @Override
    public boolean isEmpty() {
        return size == 0;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public ClientGrant get(int place) {
        return all[place];
    }

    @Override
    public boolean add(ClientGrant grant) {
        modCount++;
        if (size == all.length) {
            all = Arrays.copyOf(all, size == 0 ? 1 : 2 * size);
        }
        int place = after(grant.handle.token());
        System.arraycopy(all, place, all, place + 1, size - place);
        all[place] = grant;
        size++;
        return true;
    }

    /** Takes that one out, if it is there. */
    void drop(ClientGrant grant) {
        modCount++;
        int place = after(grant.handle.token()) - 1;
        if (place >= 0 && all[place] == grant) {
            size--;
            System.arraycopy(all, place + 1, all, place, size - place);
            all[size] = null;
        }
    }

    /** How many begin with that token or one below it. */
    private int after(long token) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (all[middle].handle.token() <= token) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The grant to which that token belongs. */
    @Nullable
    ClientGrant covering(long token) {
        int place = after(token) - 1;
        return place >= 0 && token <= all[place].handle.hi() ? all[place] : null;
    }

    /** The grant that begins with that token. */
    @Nullable
    ClientGrant of(long token) {
        ClientGrant grant = covering(token);
        return grant != null && grant.handle.token() == token ? grant : null;
    }

    /** The grant that is in use with that token. */
    @Nullable
    ClientGrant using(long token) {
        ClientGrant grant = covering(token);
        return grant != null && grant.handle.active(token) ? grant : null;
    }

    /** The grant that took the place of the one that was in use with that token. */
    @Nullable
    ClientGrant converted(long token) {
        for (ClientGrant grant : this) {
            if (grant.before == token) {
                return grant;
            }
        }
        return null;
    }

    /** The one beside which nothing stands; null if there is none. */
    @Nullable
    ClientGrant exclusive() {
        return size != 0 && all[0].isExclusive() ? all[0] : null;
    }

    /** Why that cannot be asked for beside what is in use: of the other kind, or of another set of nodes; or null. */
    @Nullable
    RefusalCause unlike(LockCall.Acquire asked) {
        for (int i = 0; i < size; i++) {
            GrantHandle used = all[i].handle;
            if (!used.idle() && used.mode().isTree() != asked.mode().isTree()) {
                return RefusalCause.MIXED;
            } else if (!used.idle() && NodeParts.isOther(asked.owner(), List.of(used), GrantHandle::owner)) {
                return RefusalCause.NODES;
            }
        }
        return null;
    }

    /** Whether nothing of them stands in the way of a grant of a tree's level in that mode. */
    boolean admitLevel(LockMode mode) {
        for (int i = 0; i < size; i++) {
            if (!TreeModes.together(all[i].handle.mode(), mode)) {
                return false;
            }
        }
        return true;
    }

    /** Whether one of them may be kept. */
    boolean anyCacheable() {
        for (int i = 0; i < size; i++) {
            if (all[i].cacheable()) {
                return true;
            }
        }
        return false;
    }

    /** When belief in one of the frozen ones ends first; {@link Turn#NEVER} if none is frozen. */
    long nextFrozen() {
        long next = Turn.NEVER;
        for (int i = 0; i < size; i++) {
            next = all[i].frozen ? Turn.earlier(next, all[i].handle.deadline()) : next;
        }
        return next;
    }

    /** All permits of them. */
    long permits() {
        long permits = 0;
        for (int i = 0; i < size; i++) {
            permits += all[i].handle.permits();
        }
        return permits;
    }

    /** Belief in those of that ttl is about to end. */
    void doubted(long ttl, Turn turn) {
        for (ClientGrant grant : this) {
            if (grant.isBelieved(ttl)) {
                grant.doubt("no answer for five eighths of its ttl", turn);
            }
        }
    }

    /** It goes on, unless there is another reason for doubt. */
    void certain(long ttl, Turn turn) {
        for (ClientGrant grant : this) {
            if (grant.isBelieved(ttl) && clusterDown == null) {
                grant.certain(turn);
            }
        }
    }

    /** The cluster is down, and why; or up again, if that is null. */
    void clusterDown(@Nullable String why, Turn turn) {
        clusterDown = why;
        for (ClientGrant grant : this) {
            if (!grant.frozen && why != null) {
                grant.doubt(why, turn);
            } else if (!grant.frozen && grant.handle.belief().doubtful() - turn.now() > 0) {
                grant.certain(turn);
            }
        }
    }

    boolean isClusterDown() {
        return clusterDown != null;
    }

    /** Those that there are now, for who ends some of them. */
    List<ClientGrant> now() {
        return size == 0 ? List.of() : List.of(Arrays.copyOf(all, size));
    }

    GrantList copy() {
        GrantList copy = new GrantList();
        for (ClientGrant grant : this) {
            copy.add(grant.copy());
        }
        copy.clusterDown = clusterDown;
        return copy;
    }
}
