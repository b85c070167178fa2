// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/** Renews grants: one transaction for all of a session, in that session, checks that their nodes are there. */
final class Renewals {
    private final RequestNodes nodes;

    Renewals(RequestNodes nodes) {
        this.nodes = nodes;
    }

    private record Held(Grant grant, RequestNode node) {}

    List<Answer> renew(List<Grant> grants, Deadline deadline) throws TimeoutException, InterruptedException {
        Map<Grant, Answer> answers = new LinkedHashMap<>();
        Map<Session, List<Held>> bySession = new LinkedHashMap<>();
        for (Grant grant : grants) {
            RequestNode node = nodes.get(grant.id());
            if (node == null) {
                answers.put(grant, Answer.NOT_HELD);
            } else if (!node.session.isConnected()) {
                answers.put(grant, Answer.UNKNOWN);
            } else {
                bySession
                        .computeIfAbsent(node.session, session -> new ArrayList<>())
                        .add(new Held(grant, node));
            }
        }
        Map<Session, CompletableFuture<List<Code>>> sent = new LinkedHashMap<>();
        bySession.forEach((session, held) -> sent.put(session, check(session, held)));
        for (Map.Entry<Session, CompletableFuture<List<Code>>> each : sent.entrySet()) {
            settle(each.getKey(), bySession.getOrDefault(each.getKey(), List.of()), each.getValue(), answers, deadline);
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
            Deadline deadline)
            throws TimeoutException, InterruptedException {
        List<Held> asked = held;
        try {
            List<Code> codes = EnsembleCalls.await(first, deadline);
            while (!codes.stream().allMatch(code -> code == Code.OK)) {
                List<Held> again = new ArrayList<>();
                for (int i = 0; i < codes.size(); i++) {
                    switch (codes.get(i)) {
                        case OK, RUNTIMEINCONSISTENCY -> again.add(asked.get(i));
                        case NONODE -> {
                            answers.put(asked.get(i).grant, Answer.NOT_HELD);
                            nodes.gone(asked.get(i).node);
                        }
                        default -> {}
                    }
                }
                if (again.isEmpty()) {
                    return;
                }
                asked = again;
                codes = EnsembleCalls.await(check(session, again), deadline);
            }
            for (Held each : asked) {
                boolean broken = session.breaks().isBroken(each.node.czxid(each.grant), deadline);
                answers.put(each.grant, broken ? Answer.NOT_HELD : Answer.DONE);
                if (!broken) {
                    each.node.watchHeld(each.grant);
                }
            }
        } catch (KeeperException e) {
            // Nothing is known.
        }
    }
}
