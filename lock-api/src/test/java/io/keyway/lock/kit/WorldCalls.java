// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.function.Consumer;

/**
 * The calls between the clients and the store of a {@link StoreWorld}: executed once, late, too late, or never; a reply
 * may be lost.
 */
final class WorldCalls {

    private static final long TIMEOUT = 200 * WorldTime.MS;

    private interface Call<T> {
        T make() throws NotExecutedException;
    }

    private interface Failure {
        void told(boolean maybe);
    }

    private final ReferenceStore store;
    private final WorldTime time;

    /** Of the lost requests, in percent. */
    private final int lateShare;

    WorldCalls(ReferenceStore store, WorldTime time, int lateShare) {
        this.store = store;
        this.time = time;
        this.lateShare = lateShare;
    }

    void attempt(WorldClient client, Request request) {
        attempt(client, request, () -> store.attempt(client.session, request));
    }

    void convert(WorldClient client, Grant held, Request request) {
        attempt(client, request, () -> store.convert(client.session, held, request));
    }

    void renew(WorldClient client, List<Grant> grants) {
        long sentAt = time.nanoTime();
        call(
                client,
                () -> grants.stream()
                        .map(grant -> store.renew(client.session, grant))
                        .toList(),
                answers -> client.machine.renewed(grants, sentAt, answers, time.nanoTime()),
                maybe -> client.machine.renewFailed(grants, time.nanoTime()));
    }

    void release(WorldClient client, Grant grant) {
        call(
                client,
                () -> store.release(client.session, grant),
                answer -> client.machine.released(grant.id(), answer, time.nanoTime()),
                maybe -> client.machine.cleanUpFailed(grant.id(), maybe, time.nanoTime()));
    }

    void withdraw(WorldClient client, Request request) {
        long id = request.id();
        call(
                client,
                () -> {
                    store.withdraw(client.session, request);
                    return true;
                },
                done -> client.machine.withdrawn(id),
                maybe -> client.machine.cleanUpFailed(id, maybe, time.nanoTime()));
    }

    private void attempt(WorldClient client, Request request, Call<Attempt> attempt) {
        long sentAt = time.nanoTime();
        call(
                client,
                attempt,
                result -> client.machine.attempted(request.id(), sentAt, result, time.nanoTime()),
                maybe -> client.machine.attemptFailed(request.id(), maybe, "fault", null, time.nanoTime()));
    }

    private <T> void call(WorldClient client, Call<T> call, Consumer<T> result, Failure failure) {
        boolean lostRequest = time.fault(10);
        boolean lostReply = time.fault(10);
        boolean refused = time.fault(5);
        if (refused) {
            client.input(time.latency(), () -> failure.told(false));
            return;
        }
        if (lostRequest) {
            client.input(TIMEOUT, () -> failure.told(true));
            if (time.fault(lateShare)) {
                // Not lost after all: it arrives when nobody waits for its answer any more.
                time.after(TIMEOUT + time.lateness(), () -> quietly(call));
            }
            return;
        }
        time.after(time.latency(), () -> {
            T value;
            try {
                value = call.make();
            } catch (NotExecutedException e) {
                client.input(time.latency(), () -> failure.told(false));
                return;
            }
            if (lostReply) {
                client.input(TIMEOUT, () -> failure.told(true));
            } else {
                client.input(time.latency(), () -> result.accept(value));
            }
        });
    }

    private static void quietly(Call<?> call) {
        try {
            call.make();
        } catch (NotExecutedException e) {
            // Nobody hears of it.
        }
    }
}
