// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.reference.ReferenceStore;
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

    /** True if that effect is a call, which is on its way now. */
    boolean start(WorldClient client, StoreEffect effect) {
        StoreMachine machine = client.machine;
        if (effect instanceof StoreEffect.Attempt attempt) {
            Request request = attempt.request();
            attempt(client, request, () -> store.attempt(client.session, request));
        } else if (effect instanceof StoreEffect.Convert convert) {
            Request request = convert.request();
            attempt(client, request, () -> store.convert(client.session, convert.held(), request));
        } else if (effect instanceof StoreEffect.Renew renew) {
            long sentAt = time.nanoTime();
            call(
                    client,
                    () -> renew.grants().stream()
                            .map(grant -> store.renew(client.session, grant))
                            .toList(),
                    answers -> machine.leases().renewed(renew.grants(), sentAt, answers, time.nanoTime()),
                    maybe -> machine.leases().renewFailed(renew.grants(), time.nanoTime()));
        } else if (effect instanceof StoreEffect.Release release) {
            long id = release.grant().id();
            call(
                    client,
                    () -> store.release(client.session, release.grant()),
                    answer -> machine.released(id, answer, time.nanoTime()),
                    maybe -> machine.cleanUpFailed(id, maybe, time.nanoTime()));
        } else if (effect instanceof StoreEffect.Withdraw withdraw) {
            long id = withdraw.request().id();
            call(
                    client,
                    () -> {
                        store.withdraw(client.session, withdraw.request());
                        return true;
                    },
                    done -> machine.withdrawn(id),
                    maybe -> machine.cleanUpFailed(id, maybe, time.nanoTime()));
        } else {
            return false;
        }
        return true;
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
