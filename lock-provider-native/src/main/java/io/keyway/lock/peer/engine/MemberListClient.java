// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Asks the members for another list, again and again until it is so. */
final class MemberListClient implements ClusterMembers {
    private static final Duration AGAIN = Duration.ofMillis(200);
    /** The longest that one question waits for its answer: its member may have ended. */
    private static final Duration ANSWER = Duration.ofSeconds(5);

    private final Key keeper;
    private final Admin admin;
    private final ClientRuntime runtime;

    /** @param keeper the machine of a member that changes the list */
    MemberListClient(Key keeper, Admin admin, ClientRuntime runtime) {
        this.keeper = keeper;
        this.admin = admin;
        this.runtime = runtime;
    }

    @Override
    public List<String> list(Duration limit) throws InterruptedException {
        return change("", true, limit);
    }

    @Override
    public List<String> add(String member, Duration limit) throws InterruptedException {
        return change(NodeId.parse(member).toString(), true, limit);
    }

    @Override
    public List<String> remove(String member, Duration limit) throws InterruptedException {
        return change(NodeId.parse(member).toString(), false, limit);
    }

    private List<String> change(String member, boolean add, Duration limit) throws InterruptedException {
        long end = runtime.time().nanoTime() + limit.toNanos();
        String why = "no member answered";
        for (long left = limit.toNanos(); left > 0; left = end - runtime.time().nanoTime()) {
            Duration wait = Duration.ofNanos(Math.min(left, ANSWER.toNanos()));
            try {
                LockMessage.Members answer = runtime.time().await(admin.changeMembers(keeper, member, add, wait));
                if (member.isEmpty() || answer.members().contains(member) == add) {
                    return answer.members();
                } else if (answer.refused()) {
                    throw new IllegalArgumentException(answer.why());
                }
                why = answer.why();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof LockUnavailableException unavailable) || !unavailable.retryable()) {
                    throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
                }
                why = unavailable.getMessage() + ".";
            }
            pause();
        }
        throw new LockUnavailableException(
                member.isEmpty() ? "The members are not known: " + why : unchanged(member, add, limit, why),
                null,
                runtime.server(),
                null);
    }

    private static String unchanged(String member, boolean add, Duration limit, String why) {
        return member + " was not " + (add ? "added" : "removed") + " within " + limit.toMillis() + "ms: " + why
                + " It may still come to be so for some seconds; look at the list, and say it again.";
    }

    private void pause() throws InterruptedException {
        TimeSource time = runtime.time();
        try {
            time.await(new CompletableFuture<Void>(), time.nanoTime() + AGAIN.toNanos());
        } catch (ExecutionException | TimeoutException e) {
            return; // it is asked again
        }
    }
}
