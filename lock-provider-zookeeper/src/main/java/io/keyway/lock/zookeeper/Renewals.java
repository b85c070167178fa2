// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;

/**
 * Renews grants: one transaction for all of a session, in that session, checks that their nodes are there. From its first
 * renewal on the node of a grant is watched, so that its holder hears at once when somebody deletes it by hand; a lock that
 * is held for less than half of its ttl costs no such watch.
 */
final class Renewals {
    private final LockBackend.Signals signals;
    private final RequestNodes places;
    private final Consumer<RequestNode> gone;

    /** {@code gone}: is told of places whose nodes are not there any more. */
    Renewals(LockBackend.Signals signals, RequestNodes places, Consumer<RequestNode> gone) {
        this.signals = signals;
        this.places = places;
        this.gone = gone;
    }

    private record Held(Grant grant, RequestNode place) {}

    List<Answer> renew(List<Grant> grants, Await limit) throws TimeoutException, InterruptedException, KeeperException {
        Map<Grant, Answer> answers = new LinkedHashMap<>();
        Map<Session, List<Held>> bySession = new LinkedHashMap<>();
        for (Grant grant : grants) {
            RequestNode place = places.get(grant.id());
            if (place == null) {
                answers.put(grant, Answer.NOT_HELD);
            } else if (!place.session.isConnected()) {
                answers.put(grant, Answer.UNKNOWN);
            } else {
                bySession
                        .computeIfAbsent(place.session, session -> new ArrayList<>())
                        .add(new Held(grant, place));
            }
        }
        Map<Session, CompletableFuture<List<Code>>> sent = new LinkedHashMap<>();
        bySession.forEach((session, held) -> sent.put(session, check(session, held)));
        for (Map.Entry<Session, CompletableFuture<List<Code>>> each : sent.entrySet()) {
            settle(each.getKey(), bySession.getOrDefault(each.getKey(), List.of()), each.getValue(), answers, limit);
        }
        return grants.stream()
                .map(grant -> answers.getOrDefault(grant, Answer.UNKNOWN))
                .toList();
    }

    private static CompletableFuture<List<Code>> check(Session session, List<Held> held) {
        return session.transact(
                held.stream().map(each -> Op.check(each.grant.cookie(), -1)).toList());
    }

    /** Those about which nothing is known have no answer. */
    private void settle(
            Session session,
            List<Held> held,
            CompletableFuture<List<Code>> first,
            Map<Grant, Answer> answers,
            Await limit)
            throws TimeoutException, InterruptedException {
        List<Held> asked = held;
        try {
            List<Code> codes = limit.await(first);
            while (!codes.stream().allMatch(code -> code == Code.OK)) {
                List<Held> again = new ArrayList<>();
                for (int i = 0; i < codes.size(); i++) {
                    switch (codes.get(i)) {
                        case OK, RUNTIMEINCONSISTENCY -> again.add(asked.get(i));
                        case NONODE -> {
                            answers.put(asked.get(i).grant, Answer.NOT_HELD);
                            gone.accept(asked.get(i).place);
                        }
                        default -> {}
                    }
                }
                if (again.isEmpty()) {
                    return;
                }
                asked = again;
                codes = limit.await(check(session, again));
            }
            BrokenGrants broken = session.breaks().heard(limit);
            for (Held each : asked) {
                boolean over = broken.reasons().containsKey(each.place.czxid(each.grant));
                answers.put(each.grant, over ? Answer.NOT_HELD : Answer.DONE);
                if (!over) {
                    watch(each);
                }
            }
        } catch (KeeperException e) {
            // Nothing is known.
        }
    }

    private void watch(Held held) {
        if (held.place.watched) {
            return;
        }
        held.place.watched = true;
        // Told of a deletion, and of no change.
        CompletableFuture<?> unused = held.place
                .session
                .watches()
                .children(held.grant.cookie(), event -> {
                    if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
                        deleted(held);
                    }
                })
                .whenComplete((none, failure) -> {
                    if (failure instanceof KeeperException.NoNodeException) {
                        deleted(held);
                    } else if (failure != null) {
                        held.place.watched = false;
                    }
                });
    }

    private void deleted(Held held) {
        CreatedNode node = held.place.node();
        if (held.place.held && node != null && held.place.token(node) == held.grant.token()) {
            held.place.broken = true;
            signals.ended(
                    held.grant.key(),
                    held.grant.token(),
                    LeaseLoss.Cause.BROKEN,
                    "somebody deleted " + held.grant.cookie());
        }
    }
}
