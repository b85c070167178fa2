// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.peer.service.LockMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The one token of each lock over nodes, as the kit's {@code NodesView} makes it of what a user was told that it holds;
 * and the oracle that it rises from holder to holder (R5), over restarts of members, whose epochs differ.
 */
final class RaisedTokens {
    /** From this seed on users in worlds over nodes raise their tokens. */
    static final long FROM = 1L << 31;

    private static final long LIMIT = 2 * Nanos.SECOND;

    /** One lock, when its user was told. */
    private record Raise(
            AgentUser user, LockName lock, Map<LockName, AgentUser.Held> parts, long token, Set<Long> unanswered) {}

    private final AgentModel model;
    private final boolean raises;
    private final Map<Long, Raise> byRequest = new HashMap<>();
    private final Map<LockName, Long> highest = new HashMap<>();
    /** How many tokens were judged. */
    private int judged;

    RaisedTokens(AgentModel model, long seed) {
        this.model = model;
        this.raises = seed >= FROM && model.isOverNodes();
    }

    int judged() {
        return judged;
    }

    /** That user was told that it has all that it wants, and wants no more. */
    void begin(AgentUser user) {
        for (LockName lock : model.locks()) {
            if (raises && user.nodes != null && user.nodes.isTold(lock)) {
                begin(user, lock);
            }
        }
    }

    private void begin(AgentUser user, LockName lock) {
        Map<LockName, AgentUser.Held> parts = new LinkedHashMap<>();
        user.held.forEach((name, grant) -> {
            if (name.toString().endsWith("/" + lock) && grant.handle().mode() == LockMode.EXCLUSIVE) {
                parts.put(name, grant);
            }
        });
        if (parts.size() < model.set(lock).needed()) {
            return; // a reader, or one that has lost a part
        }
        long token =
                parts.values().stream().mapToLong(AgentUser.Held::token).max().orElseThrow();
        Raise raise = new Raise(user, lock, parts, token, new HashSet<>());
        if (model.defect == AgentDefect.RAISES_NOTHING) {
            judge(raise);
            return;
        }
        parts.forEach((part, grant) -> {
            long request = model.nextNumber();
            raise.unanswered().add(request);
            byRequest.put(request, raise);
            user.raise(grant, request, token, LIMIT);
        });
    }

    void answered(LockMessage.Reply reply) {
        Raise raise = byRequest.remove(reply.request());
        boolean done = reply instanceof LockMessage.Answer answer && answer.done();
        if (raise != null
                && done
                && raise.unanswered().remove(reply.request())
                && raise.unanswered().isEmpty()) {
            judge(raise);
        }
    }

    /** Its user has the token, if it has the lock still. */
    private void judge(Raise raise) {
        AgentUser user = raise.user();
        boolean has = raise.parts().entrySet().stream()
                .allMatch(each -> each.getValue().equals(user.held.get(each.getKey()))
                        && each.getValue().handle().holds(each.getValue().token(), user.node.clock()));
        if (!has) {
            return;
        }
        judged++;
        Long before = highest.put(raise.lock(), raise.token());
        if (before != null && before >= raise.token()) {
            throw new Violation(
                    "R5", user + " has " + raise.lock() + " under token " + raise.token() + " after " + before);
        }
    }
}
