// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
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
            /** For how long it has had each part that it has. */
            final List<Duration> holds = new ArrayList<>();
            /**
             * The highest token of its parts, for a part that came when it had the lock already the one that it had the
             * lock under.
             */
            long token;
            /** Whether one of its parts came when it had the lock already. */
            boolean said;
            /** For how long it has been there. */
            Duration since = Duration.ZERO;
            /** Whether it waits for a part that it needs. */
            boolean waits;

            private void seen(Duration since) {
                this.since = since.compareTo(this.since) > 0 ? since : this.since;
            }

            void holds(LockStatus.Holder part) {
                OptionalLong own = NodeParts.token(part.metadata());
                said |= own.isPresent();
                token = Math.max(token, own.orElse(part.token().orElse(0)));
                holds.add(part.since());
                seen(part.since());
            }

            void waits(LockStatus.Waiter part) {
                waits |= NodeParts.token(part.metadata()).isEmpty();
                seen(part.since());
            }
        }

        private Optional<LockStatus> merged() {
            Map<Who, Seen> seen = new HashMap<>();
            for (LockStatus status : known) {
                for (LockStatus.Holder each : status.holders()) {
                    if (each.mode().isAlone() && each.kept().isEmpty()) {
                        seen.computeIfAbsent(who(each.client(), each.metadata()), none -> new Seen())
                                .holds(each);
                    }
                }
            }
            for (LockStatus status : known) {
                for (LockStatus.Waiter each : status.waiters()) {
                    if (each.mode().isAlone()) {
                        seen.computeIfAbsent(who(each.client(), each.metadata()), none -> new Seen())
                                .waits(each);
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
                    holders.add(new LockStatus.Holder(
                            who.client(), LockMode.EXCLUSIVE, 1, token(what), since(what), who.metadata()));
                } else {
                    waiters.add(new LockStatus.Waiter(
                            who.client(), LockMode.EXCLUSIVE, 1, OptionalLong.empty(), what.since, who.metadata()));
                }
            });
            waiters.sort((one, other) -> other.since().compareTo(one.since()));
            return seen.isEmpty() ? Optional.empty() : Optional.of(new LockStatus(key, holders, waiters));
        }

        private boolean hasIt(Seen seen, int silent) {
            int holds = seen.holds.size();
            return holds >= nodes.needed() || (holds + silent >= nodes.needed() && !seen.waits);
        }

        /** Known by all the parts that it got the lock by, or by one that came later. */
        private OptionalLong token(Seen seen) {
            boolean sure = seen.said || seen.holds.size() >= nodes.needed();
            return sure ? OptionalLong.of(seen.token) : OptionalLong.empty();
        }

        /** It has the lock since it has had enough parts, as far as they are seen. */
        private Duration since(Seen seen) {
            List<Duration> longestFirst = new ArrayList<>(seen.holds);
            longestFirst.sort(Comparator.reverseOrder());
            return longestFirst.get(Math.min(nodes.needed(), longestFirst.size()) - 1);
        }

        private Who who(String client, Map<String, String> metadata) {
            return new Who(client, NodeParts.given(metadata));
        }
    }
}
