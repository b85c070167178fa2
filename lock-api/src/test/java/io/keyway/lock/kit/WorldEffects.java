// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.OptionalInt;

/** What the machine of a client of a {@link StoreWorld} wants done: calls of the store, and what its users are told. */
final class WorldEffects implements StoreEffects {

    private final StoreWorld world;
    private final WorldClient client;
    private final WorldCalls calls;

    WorldEffects(StoreWorld world, WorldClient client, WorldCalls calls) {
        this.world = world;
        this.client = client;
        this.calls = calls;
    }

    @Override
    public void attempt(Request request, boolean heartbeat) {
        calls.attempt(client, request);
    }

    @Override
    public void convert(Grant held, Request request, boolean heartbeat) {
        calls.convert(client, held, request);
    }

    @Override
    public void renew(List<Grant> grants) {
        calls.renew(client, grants);
    }

    @Override
    public void release(Grant grant, boolean keeps) {
        calls.release(client, grant);
    }

    @Override
    public void withdraw(Request request) {
        calls.withdraw(client, request);
    }

    @Override
    public void granted(long id, Grant grant, long deadlineNanos) {
        world.taken(client, grant, deadlineNanos);
    }

    @Override
    public void converted(long from, long id, Grant grant, long deadlineNanos) {
        world.converted(client, from, id, grant, deadlineNanos);
    }

    @Override
    public void extended(List<Grant> grants, long deadlineNanos) {
        for (Grant grant : grants) {
            WorldGrant held = client.held.get(grant.id());
            if (held != null) {
                held.deadline = deadlineNanos;
            }
        }
    }

    @Override
    public void ended(long id, LeaseLoss.Cause cause, String detail) {
        world.ended(client, id, detail);
    }

    @Override
    public void refused(long id, List<Owner> holders) {
        world.over(client, id);
    }

    @Override
    public void failed(long id, LockException failure) {
        world.over(client, id);
    }

    @Override
    public void waiting(long id, OptionalInt ahead, List<Owner> holders) {}

    @Override
    public void doubt(long id, String why) {}

    @Override
    public void certain(long id) {}

    @Override
    public void released(long id, Answer answer) {}

    @Override
    public void gone(Request request) {}
}
