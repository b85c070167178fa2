// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.mutant.CarelessSet.Defect;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The leases of a {@link CarelessSet}: those of his own loop, or a good set with one answer changed. */
final class CarelessLeases implements LeaseSet {
    private final Defect defect;
    private final LockClient client;
    private final List<Lease> leases;
    private final @Nullable LeaseSet good;
    private final CompletableFuture<LeaseLoss> lost = new CompletableFuture<>();

    /** Either the leases, or the set whose answers are changed. */
    CarelessLeases(Defect defect, LockClient client, List<Lease> leases, @Nullable LeaseSet good) {
        this.defect = defect;
        this.client = client;
        this.leases = leases;
        this.good = good;
        leases.forEach(lease -> lease.lost().thenAccept(lost::complete));
        if (good != null) {
            good.lost().thenAccept(loss -> {
                if (defect == Defect.REST_AT_ONCE) {
                    good.releaseAsync();
                }
            });
        }
    }

    @Override
    public List<LockName> names() {
        return good != null ? good.names() : leases.stream().map(Lease::name).toList();
    }

    @Override
    public long token(LockName name) {
        Long token = tokens().get(name);
        if (token == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return token;
    }

    @Override
    public Map<LockName, Long> tokens() {
        Map<LockName, Long> tokens = new LinkedHashMap<>();
        if (good == null) {
            leases.forEach(lease -> tokens.put(lease.name(), lease.token()));
        } else {
            tokens.putAll(good.tokens());
        }
        if (defect == Defect.TOKEN_OF_THE_FIRST) {
            long first = tokens.values().iterator().next();
            tokens.replaceAll((name, token) -> first);
        }
        return tokens;
    }

    @Override
    public Duration ttl() {
        return good != null ? good.ttl() : leases.get(0).ttl();
    }

    @Override
    public Lease.State state() {
        if (good != null) {
            return defect == Defect.BELIEVES_THE_REST && good.state() == Lease.State.LOST
                    ? Lease.State.HELD
                    : good.state();
        }
        return defect == Defect.STALE
                ? leases.get(leases.size() - 1).state()
                : leases.stream().map(Lease::state).max(Lease.State::compareTo).orElseThrow();
    }

    @Override
    public Duration remaining() {
        return good != null ? good.remaining() : leases.get(leases.size() - 1).remaining();
    }

    @Override
    public boolean isHeld() {
        return state() == Lease.State.HELD || state() == Lease.State.DOUBTFUL;
    }

    @Override
    public void ensureHeld() {
        if (good != null) {
            good.ensureHeld();
        } else {
            leases.forEach(Lease::ensureHeld);
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        CompletionStage<LeaseLoss> told = good == null ? lost : good.lost();
        return switch (defect) {
            case TOLD_TWICE -> new ToldTwice(told);
            case LOSS_WITHOUT_NAME ->
                told.thenApply(loss -> new LeaseLoss(loss.cause(), loss.heldFor(), loss.server(), "it is lost"));
            case TOLD_AFTER_RELEASE -> lost;
            default -> told;
        };
    }

    /** Tells each dependent twice. */
    private static final class ToldTwice extends CompletableFuture<LeaseLoss> {
        private final CompletionStage<LeaseLoss> told;

        ToldTwice(CompletionStage<LeaseLoss> told) {
            this.told = told;
        }

        @Override
        public CompletableFuture<Void> thenAccept(java.util.function.Consumer<? super LeaseLoss> action) {
            return told.thenAccept(loss -> {
                        action.accept(loss);
                        action.accept(loss);
                    })
                    .toCompletableFuture();
        }
    }

    @Override
    public ReleaseOutcome release() {
        if (good == null) {
            leases.forEach(Lease::close);
            return ReleaseOutcome.RELEASED;
        }
        boolean over = good.state() == Lease.State.LOST;
        if (defect == Defect.REST_NEVER && over) {
            takeAgain();
        }
        if (defect == Defect.RELEASES_THE_FIRST && good.isHeld()) {
            good.release();
            take(good.names().get(1));
            return ReleaseOutcome.RELEASED;
        }
        ReleaseOutcome outcome = good.release();
        if (defect == Defect.TOLD_AFTER_RELEASE) {
            lost.complete(new LeaseLoss(
                    LeaseLoss.Cause.CLIENT_CLOSED, Duration.ZERO, java.util.Optional.empty(), "released"));
        }
        return over && defect == Defect.RELEASE_OF_LOST_IS_FINE ? ReleaseOutcome.RELEASED : outcome;
    }

    /** As if what is to be given back were kept. */
    private void takeAgain() {
        LeaseSet held = java.util.Objects.requireNonNull(good);
        held.release();
        held.names().forEach(this::take);
    }

    private void take(LockName name) {
        try {
            client.lock(name).tryAcquire();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return good != null ? good.releaseAsync() : CompletableFuture.completedStage(release());
    }

    @Override
    public void close() {
        release();
    }
}
