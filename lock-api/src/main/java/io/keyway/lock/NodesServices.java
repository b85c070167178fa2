// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/** A client's services for whom a lock is one over these nodes: who has it, all of them say together. */
final class NodesServices implements ClientServices {
    /** So long the others are waited for when enough nodes have answered. */
    private static final Duration REST = Duration.ofMillis(100);

    private final ClientServices services;
    private final NodeSet nodes;

    NodesServices(ClientServices services, NodeSet nodes) {
        this.services = services;
        this.nodes = nodes;
    }

    @Override
    public TimeSource time() {
        return services.time();
    }

    @Override
    public <T> CompletableFuture<T> future() {
        return services.future();
    }

    @Override
    public void tell(Runnable task) {
        services.tell(task);
    }

    @Override
    public boolean tellsHere() {
        return services.tellsHere();
    }

    @Override
    public Subscription onClose(Runnable task) {
        return services.onClose(task);
    }

    /** Whether that is what the lock has at one of the nodes, or a level above it. */
    boolean isOf(LockName lock, LockName name) {
        return NodeParts.node(name.value())
                .filter(nodes.nodes()::contains)
                .filter(node -> (NodeParts.part(lock, node) + "/").startsWith(name + "/"))
                .isPresent();
    }

    /**
     * Who has the lock, by a majority's answers at the least; it fails if fewer nodes answer. Nobody has it who is seen
     * at too few nodes to have it even if those that are silent say so too.
     */
    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key) {
        CompletableFuture<Optional<LockStatus>> told = services.future();
        Answers answers = new Answers(key, told);
        for (String node : nodes.nodes()) {
            services.show(LockKey.lock(NodeParts.part(key.name(), node))).whenComplete(answers::heard);
        }
        return told;
    }

    /** As {@link #show}, and waits for the answer. */
    Optional<LockStatus> look(LockKey key) throws InterruptedException {
        try {
            return time().await(show(key).toCompletableFuture());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** What the nodes say of one question. */
    private final class Answers {
        private final LockKey key;
        private final CompletableFuture<Optional<LockStatus>> told;
        private final List<LockStatus> known = new ArrayList<>();
        private int answered;
        private int failed;

        Answers(LockKey key, CompletableFuture<Optional<LockStatus>> told) {
            this.key = key;
            this.told = told;
        }

        void heard(Optional<LockStatus> status, Throwable failure) {
            int all = nodes.nodes().size();
            int enough = NodeRule.MAJORITY.needed(all);
            boolean whole;
            boolean rest;
            boolean tooFew;
            synchronized (this) {
                if (failure == null) {
                    answered++;
                    status.ifPresent(known::add);
                } else {
                    failed++;
                }
                whole = answered + failed == all && answered >= enough;
                rest = failure == null && answered == enough;
                tooFew = failed == all - enough + 1;
            }
            if (whole) {
                tell();
            } else if (rest) {
                services.time().at(services.time().nanoTime() + REST.toNanos(), this::tell);
            } else if (tooFew) {
                told.completeExceptionally(failure);
            }
        }

        private void tell() {
            Optional<LockStatus> status;
            synchronized (this) {
                status = merged();
            }
            told.complete(status);
        }

        /** One that asks or holds: its requests at all nodes have one owner. */
        private record Who(String client, Map<String, String> metadata) {}

        /** What is seen of one of them. */
        private static final class Seen {
            int holds;
            long token;
            Duration since = Duration.ZERO;
            boolean waits;
        }

        private Optional<LockStatus> merged() {
            Map<Who, Seen> seen = new HashMap<>();
            for (LockStatus status : known) {
                for (LockStatus.Holder each : status.holders()) {
                    if (each.mode().isAlone() && each.kept().isEmpty()) {
                        Seen one = seen.computeIfAbsent(who(each.client(), each.metadata()), none -> new Seen());
                        boolean first = one.holds++ == 0;
                        one.token = Math.max(one.token, each.token().orElse(0));
                        // It has the lock since the last of its grants.
                        one.since = first || each.since().compareTo(one.since) < 0 ? each.since() : one.since;
                    }
                }
            }
            for (LockStatus status : known) {
                for (LockStatus.Waiter each : status.waiters()) {
                    if (each.mode().isAlone()) {
                        Seen one = seen.computeIfAbsent(who(each.client(), each.metadata()), none -> new Seen());
                        one.waits = true;
                        one.since = each.since().compareTo(one.since) > 0 ? each.since() : one.since;
                    }
                }
            }
            int silent = nodes.nodes().size() - answered;
            List<Who> leading = seen.entrySet().stream()
                    .filter(each -> hasIt(each.getValue(), silent))
                    .map(Map.Entry::getKey)
                    .toList();
            List<LockStatus.Holder> holders = new ArrayList<>();
            List<LockStatus.Waiter> waiters = new ArrayList<>();
            seen.forEach((who, what) -> {
                if (leading.equals(List.of(who))) {
                    boolean sure = what.holds >= nodes.needed();
                    holders.add(new LockStatus.Holder(
                            who.client(),
                            LockMode.EXCLUSIVE,
                            1,
                            sure ? OptionalLong.of(what.token) : OptionalLong.empty(),
                            what.since,
                            who.metadata()));
                } else {
                    waiters.add(new LockStatus.Waiter(
                            who.client(), LockMode.EXCLUSIVE, 1, OptionalLong.empty(), what.since, who.metadata()));
                }
            });
            waiters.sort((one, other) -> other.since().compareTo(one.since()));
            return seen.isEmpty() ? Optional.empty() : Optional.of(new LockStatus(key, holders, waiters));
        }

        private boolean hasIt(Seen seen, int silent) {
            return seen.holds >= nodes.needed() || (seen.holds + silent >= nodes.needed() && !seen.waits);
        }

        private Who who(String client, Map<String, String> metadata) {
            Map<String, String> own = new HashMap<>(metadata);
            own.remove(NodeParts.SET);
            return new Who(client, own);
        }
    }
}
