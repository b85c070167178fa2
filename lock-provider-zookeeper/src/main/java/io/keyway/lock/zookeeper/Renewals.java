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
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;

/**
 * Renews grants: one transaction for all of a session, in that session, checks that their nodes are there. From its first
 * renewal on the node of a grant is watched, so that its holder hears at once when it is broken; a lock that is held for
 * less than half of its ttl costs no such watch.
 */
final class Renewals {
    private final LockBackend.Signals signals;
    private final Places places;

    Renewals(LockBackend.Signals signals, Places places) {
        this.signals = signals;
        this.places = places;
    }

    private record Held(Grant grant, Place place) {}

    List<Answer> renew(List<Grant> grants, Limit limit) throws TimeoutException, InterruptedException, KeeperException {
        Map<Grant, Answer> answers = new LinkedHashMap<>();
        Map<Session, List<Held>> bySession = new LinkedHashMap<>();
        for (Grant grant : grants) {
            Place place = places.get(grant.id());
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
        return session.check(held.stream()
                .map(each -> Op.check(each.grant.cookie(), each.place.version))
                .toList());
    }

    private void settle(
            Session session,
            List<Held> held,
            CompletableFuture<List<Code>> first,
            Map<Grant, Answer> answers,
            Limit limit)
            throws TimeoutException, InterruptedException, KeeperException {
        List<Held> asked = held;
        List<Code> codes = codes(first, limit);
        while (!codes.isEmpty()) {
            List<Held> again = new ArrayList<>();
            boolean failed = false;
            for (int i = 0; i < codes.size(); i++) {
                Held each = asked.get(i);
                switch (codes.get(i)) {
                    case OK, RUNTIMEINCONSISTENCY -> again.add(each);
                    case NONODE -> {
                        answers.put(each.grant, Answer.NOT_HELD);
                        failed = true;
                    }
                    case BADVERSION -> {
                        failed = true;
                        if (isBroken(each, limit)) {
                            answers.put(each.grant, Answer.NOT_HELD);
                        } else {
                            again.add(each);
                        }
                    }
                    default -> failed = true;
                }
            }
            if (!failed) {
                again.forEach(each -> answers.put(each.grant, Answer.DONE));
                again.forEach(this::watch);
                return;
            }
            if (again.isEmpty()) {
                return;
            }
            asked = again;
            codes = codes(check(session, again), limit);
        }
    }

    /** Empty if nothing is known. */
    private static List<Code> codes(CompletableFuture<List<Code>> answer, Limit limit)
            throws TimeoutException, InterruptedException {
        try {
            return limit.await(answer);
        } catch (KeeperException e) {
            return List.of();
        }
    }

    /** The node has changed: because it was broken, or by its owner's own word to those behind it. */
    private boolean isBroken(Held held, Limit limit) throws TimeoutException, InterruptedException, KeeperException {
        try {
            Content content = limit.await(held.place.session.content(held.grant.cookie(), null));
            return took(held, content);
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
    }

    /** Takes what stands in the node; true if it is broken. */
    private boolean took(Held held, Content content) {
        Note note = content.note();
        if (note.broken().isEmpty()) {
            held.place.version = content.stat().getVersion();
            return false;
        }
        held.place.broken = true;
        signals.ended(
                held.grant.key(),
                held.grant.token(),
                LeaseLoss.Cause.BROKEN,
                note.broken().get());
        return true;
    }

    private void watch(Held held) {
        if (!held.place.watched) {
            held.place.watched = true;
            read(held);
        }
    }

    private void read(Held held) {
        Watcher watcher = event -> {
            if (event.getType() != Watcher.Event.EventType.None && held.place.held) {
                read(held);
            }
        };
        CompletableFuture<Content> unused = held.place
                .session
                .content(held.grant.cookie(), watcher)
                .whenComplete((content, failure) -> {
                    if (!held.place.held) {
                        return;
                    }
                    if (failure instanceof KeeperException.NoNodeException) {
                        held.place.broken = true;
                        signals.ended(
                                held.grant.key(),
                                held.grant.token(),
                                LeaseLoss.Cause.BROKEN,
                                "somebody deleted " + held.grant.cookie());
                    } else if (failure != null) {
                        held.place.watched = false;
                    } else {
                        boolean unusedToo = took(held, content);
                    }
                });
    }
}
