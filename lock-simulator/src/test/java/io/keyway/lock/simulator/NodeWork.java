// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.kit.NodeLocksTwin;
import io.keyway.lock.spi.Owner;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The locks over nodes of one transaction of a user, as the kit's {@code TransactionParts} has them. */
final class NodeWork implements NodeLocksTwin.Parts {
    private static final long MOMENT = 500 * Nanos.MILLI;
    private static final long LONG = 2 * Nanos.SECOND;

    /** Requests that its transaction may go on without. */
    final Set<LockName> spares = new HashSet<>();

    private final AgentModel model;
    private final AgentUser user;
    private final NodeLocksTwin locks = new NodeLocksTwin(this);
    /** By part, when it was asked for, as long as its node has not answered. */
    private final Map<LockName, Long> unanswered = new HashMap<>();

    NodeWork(AgentModel model, AgentUser user) {
        this.model = model;
        this.user = user;
    }

    void add(LockRequest wanted) {
        locks.add(wanted.name(), wanted.mode(), model.set(wanted.name()), model.owner(user.node));
    }

    /** The locks that are not held at enough nodes. */
    List<LockName> wanted() {
        return locks.wanted();
    }

    /** Of that lock, which is wanted. */
    List<LockName> parts(LockName lock) {
        return locks.parts(lock);
    }

    /** In which mode that lock is wanted. */
    LockMode mode(LockName lock) {
        return locks.mode(lock);
    }

    /** Whether it asks another node instead from its next advance on. */
    boolean passOver(LockName part) {
        return locks.passOver(part);
    }

    Owner owner(LockName part) {
        return locks.owner(part);
    }

    void asks(LockName part) {
        unanswered.put(part, user.node.clock());
        spares.remove(part);
    }

    void answers(LockName part) {
        unanswered.remove(part);
    }

    void advance() {
        locks.advance();
    }

    void askSpares() {
        locks.askSpares();
    }

    void look() {
        locks.look();
    }

    /** Whether the user counts on that part. */
    boolean isOfTold(LockName part) {
        return locks.isOfTold(part);
    }

    boolean lacks() {
        return locks.lacks();
    }

    void tell() {
        locks.tell();
    }

    boolean isWhole() {
        return locks.isWhole();
    }

    boolean isTold(LockName lock) {
        return locks.isTold(lock);
    }

    @Override
    public boolean isHeld(LockName part) {
        return user.held.containsKey(part);
    }

    @Override
    public boolean isWanted(LockName part) {
        return user.requests.containsKey(part);
    }

    @Override
    public boolean isSilent(LockName part, boolean forLong) {
        Long since = unanswered.get(part);
        return since != null && user.node.clock() - since >= (forLong ? LONG : MOMENT);
    }

    @Override
    public void askPart(LockName part, LockMode mode) {
        user.want(new LockRequest(part, mode));
    }

    @Override
    public void askSpare(LockName part, LockMode mode) {
        model.sparesAsked++;
        askPart(part, mode);
        spares.add(part);
    }

    @Override
    public void takeBack(LockName part) {
        unanswered.remove(part);
        user.takeBack(part);
    }

    @Override
    public void spare(LockName part, boolean spare) {
        if (spare && spares.add(part)) {
            model.passedOver++;
        } else if (!spare) {
            spares.remove(part);
        }
        user.spare(part, spare);
    }
}
