// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.NodeSet;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What simulations see of the locks over nodes of a transaction. It waits for nodes that are away. */
public final class NodeLocksTwin {
    /** What the transaction knows of the parts and does with them. */
    public interface Parts {
        /** Whether that part is held. */
        boolean isHeld(LockName part);

        /** Whether it is asked for. */
        boolean isWanted(LockName part);

        /** Whether its node has not answered for a moment; or, if {@code long}, for as long as a request may take. */
        boolean isSilent(LockName part, boolean forLong);

        void askPart(LockName part, LockMode mode);

        void takeBack(LockName part);

        void spare(LockName part, boolean spare);

        /** Asks for a part of a lock that is held without it. */
        void askSpare(LockName part, LockMode mode);
    }

    private final NodeLocks locks;
    private final List<LockName> added = new ArrayList<>();

    public NodeLocksTwin(Parts parts) {
        locks = new NodeLocks(new NodeLocks.Parts() {
            @Override
            public NodeLocks.State state(LockName part) {
                if (parts.isHeld(part)) {
                    return NodeLocks.State.HELD;
                } else if (!parts.isWanted(part)) {
                    return NodeLocks.State.NONE;
                }
                return parts.isSilent(part, true)
                        ? NodeLocks.State.AWAY
                        : parts.isSilent(part, false) ? NodeLocks.State.SILENT : NodeLocks.State.WAITS;
            }

            @Override
            public void askPart(LockName part, LockMode mode, boolean queue) {
                parts.askPart(part, mode);
            }

            @Override
            public void takeBack(LockName part) {
                parts.takeBack(part);
            }

            @Override
            public void spare(LockName part, boolean spare) {
                parts.spare(part, spare);
            }

            @Override
            public void askSpare(LockName part, LockMode mode) {
                parts.askSpare(part, mode);
            }

            @Override
            public void failed(Wishes.GivenUp lock, Throwable why) {
                throw new IllegalStateException("all of them wait");
            }

            @Override
            public void tooFew(Wishes.GivenUp lock, NodeSet set, List<LockName> away) {
                throw new IllegalStateException("it waits for them");
            }
        });
    }

    public void add(LockName lock, LockMode mode, NodeSet set, Owner owner) {
        added.add(lock);
        locks.add(lock, mode, set, NodeParts.saying(owner, set), true, 0);
    }

    /** Who asks for that part. */
    public Owner owner(LockName part) {
        LockName lock = locks.lockOf(part);
        if (lock == null) {
            throw new IllegalStateException(part + " is no part");
        }
        return locks.owner(lock);
    }

    /** Whether it asks another node instead of that one from its next advance on. */
    public boolean passOver(LockName part) {
        boolean can = locks.canPassOver(part);
        if (can) {
            locks.passOver(part);
        }
        return can;
    }

    /** Asks for what is next, and takes back what is needed no more. */
    public void advance() {
        locks.advance(true);
        locks.spare();
    }

    /** Asks for the other parts of locks that are held, and whose users were told. */
    public void askSpares() {
        locks.askSpares();
        locks.spare();
    }

    /** Sees which locks are broken by now. */
    public void look() {
        locks.look();
    }

    /** Whether that is a part of a lock that is held, or was, and whose user was told. */
    public boolean isOfTold(LockName part) {
        LockName lock = locks.lockOf(part);
        return lock != null && locks.told(lock);
    }

    /** The locks that lack a node. */
    public List<LockName> wanted() {
        return added.stream()
                .filter(lock -> locks.held(lock).size() < locks.set(lock).needed())
                .toList();
    }

    /** The parts of that lock, in the order of their nodes. */
    public List<LockName> parts(LockName lock) {
        return locks.parts(lock);
    }

    /** In which mode that lock was asked for. */
    public LockMode mode(LockName lock) {
        return Objects.requireNonNull(locks.mode(lock));
    }

    public boolean lacks() {
        return locks.lacks();
    }

    public void tell() {
        locks.tell();
    }

    /** Whether all locks of which the user was told are held. */
    public boolean isWhole() {
        return locks.broken() == null;
    }

    public boolean isTold(LockName lock) {
        return locks.told(lock);
    }
}
