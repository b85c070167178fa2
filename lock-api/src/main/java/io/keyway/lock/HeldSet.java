// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The leases of several locks, as one.
 *
 * <h2>States</h2>
 *
 * <pre>{@code
 * HELD      --a lease is found to be lost--> Loss
 *           --release--> RELEASED
 * RELEASED  --a lease turns out to have been lost when it was released--> Loss
 * }</pre>
 *
 * <p>A {@link Loss} says which lease it was, and is final.
 *
 * <h2>Events</h2>
 *
 * <p>The owner's questions and its release; {@code lost()} of each lease, on the event executor; the timer that ends
 * the owner's time to stop.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>HELD is no belief: each question asks every lease, and the first lease that is not held ends the set. So belief
 *       in all ends at the first deadline, to the nanosecond.
 *   <li>The stage of the loss is completed by {@code lost()} of a lease alone, so that its dependents run where those
 *       of a lease do; once, since a Loss is final.
 *   <li>After a Loss the other leases stay held, by us, until the owner has said that it stopped, or a quarter of the
 *       ttl has passed: then they go back. Their release is sent once, since that of a lease is.
 * </ul>
 */
final class HeldSet implements LeaseSet {
    private enum Whole {
        HELD,
        RELEASED
    }

    /** Which lease ended the set. */
    private record Loss(LockName name, long token, LeaseLoss told) {}

    private final ClientServices services;
    private final List<Lease> leases;
    private final List<LockName> names;
    private final Map<LockName, Long> tokens;
    private final AtomicReference<Object> state = new AtomicReference<>(Whole.HELD);
    private final CompletableFuture<LeaseLoss> lost;

    private HeldSet(ClientServices services, List<Lease> leases, List<LockName> names) {
        this.services = services;
        this.leases = leases;
        this.names = List.copyOf(names);
        Map<LockName, Long> all = new LinkedHashMap<>();
        names.forEach(name -> all.put(name, 0L));
        leases.forEach(lease -> all.computeIfPresent(lease.name(), (name, none) -> lease.token()));
        this.tokens = Collections.unmodifiableMap(all);
        this.lost = services.future();
    }

    /** Returns the set of leases that were held a moment ago, in the order of their names. */
    static LeaseSet of(ClientServices services, List<Lease> leases) {
        return of(services, leases, leases.stream().map(Lease::name).toList());
    }

    /** The same, of which some names are shown. */
    static LeaseSet of(ClientServices services, List<Lease> leases, List<LockName> names) {
        HeldSet set = new HeldSet(services, leases, names);
        for (Lease lease : leases) {
            lease.lost().thenAccept(loss -> set.tell(lease));
        }
        return set;
    }

    @Override
    public List<LockName> names() {
        return names;
    }

    @Override
    public long token(LockName name) {
        Long token = tokens.get(name);
        if (token == null) {
            throw new IllegalArgumentException("The lock " + name + " is none of the set, which has " + names + ".");
        }
        return token;
    }

    @Override
    public Map<LockName, Long> tokens() {
        return tokens;
    }

    @Override
    public Duration ttl() {
        return leases.stream().map(Lease::ttl).min(Comparator.naturalOrder()).orElseThrow();
    }

    @Override
    public Lease.State state() {
        Object seen = state.get();
        if (seen != Whole.HELD) {
            return seen instanceof Loss ? Lease.State.LOST : Lease.State.RELEASED;
        }
        Lease.State all = Lease.State.HELD;
        for (Lease lease : leases) {
            Lease.State one = lease.state();
            if (one == Lease.State.DOUBTFUL) {
                all = one;
            } else if (one != Lease.State.HELD) {
                // Lost; or released a moment ago, which is no state of a set that is still held.
                lose(lease);
                return state();
            }
        }
        return state.get() == Whole.HELD ? all : state();
    }

    @Override
    public boolean isHeld() {
        Lease.State seen = state();
        return seen == Lease.State.HELD || seen == Lease.State.DOUBTFUL;
    }

    @Override
    public Duration remaining() {
        Duration least = leases.stream()
                .map(Lease::remaining)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        return isHeld() ? least : Duration.ZERO;
    }

    @Override
    public void ensureHeld() {
        Lease.State seen = state();
        if (state.get() instanceof Loss loss) {
            throw new LeaseLostException(loss.name(), loss.token(), loss.told());
        }
        if (seen == Lease.State.RELEASED) {
            throw new IllegalStateException(
                    "The leases of " + names + " were released; acquire the locks again to go on.");
        }
    }

    @Override
    public CompletionStage<LeaseLoss> lost() {
        return lost.copy();
    }

    @Override
    public ReleaseOutcome release() {
        end();
        ReleaseOutcome all = ReleaseOutcome.RELEASED;
        for (Lease lease : leases) {
            all = with(all, lease, lease.release());
        }
        return outcome(all);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> told = services.future();
        end();
        CompletionStage<ReleaseOutcome> all = CompletableFuture.completedStage(ReleaseOutcome.RELEASED);
        for (Lease lease : leases) {
            all = all.thenCombine(lease.releaseAsync(), (before, one) -> with(before, lease, one));
        }
        all.whenComplete(
                (outcome, failure) -> told.complete(outcome(outcome == null ? ReleaseOutcome.UNKNOWN : outcome)));
        return told;
    }

    @Override
    public void close() {
        end();
        leases.forEach(Lease::close);
    }

    /** The owner has stopped, or stops now: all releases are sent. */
    private void end() {
        // Sees a deadline that has passed.
        state();
        state.compareAndSet(Whole.HELD, Whole.RELEASED);
        giveBack();
    }

    private void giveBack() {
        for (int i = leases.size() - 1; i >= 0; i--) {
            leases.get(i).releaseAsync();
        }
    }

    private ReleaseOutcome with(ReleaseOutcome before, Lease lease, ReleaseOutcome one) {
        if (one == ReleaseOutcome.ALREADY_LOST) {
            lose(lease);
        }
        return before == ReleaseOutcome.RELEASED ? one : before;
    }

    private ReleaseOutcome outcome(ReleaseOutcome all) {
        return state.get() instanceof Loss ? ReleaseOutcome.ALREADY_LOST : all;
    }

    private void tell(Lease lease) {
        lose(lease);
        if (state.get() instanceof Loss loss) {
            lost.complete(loss.told());
        }
    }

    /** The set is lost if that lease is, unless it is over otherwise. */
    private void lose(Lease lease) {
        LeaseLoss how = LeaseLosses.of(lease).map(LeaseLostException::loss).orElse(null);
        if (how == null) {
            return;
        }
        Loss loss = new Loss(
                lease.name(),
                lease.token(),
                new LeaseLoss(
                        how.cause(),
                        how.heldFor(),
                        how.server(),
                        "the lease of " + lease.name() + ": " + how.detail()));
        if (state.compareAndSet(Whole.HELD, loss)) {
            services.time().at(services.time().nanoTime() + ttl().toNanos() / 4, this::giveBack);
        } else {
            state.compareAndSet(Whole.RELEASED, loss);
        }
    }

    @Override
    public String toString() {
        return "LeaseSet" + tokens;
    }
}
