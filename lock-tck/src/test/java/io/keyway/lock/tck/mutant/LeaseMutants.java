// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockListener;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Subscription;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.wrap.ForwardingClient;
import io.keyway.lock.tck.wrap.ForwardingLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Defects in what a lease says of itself. */
final class LeaseMutants {

    static final List<Mutant> ALL = List.of(
            lease("8", "renewal-changes-token", "a renewal draws a new token", "LK-508", Restless::new),
            lease(
                    "12",
                    "belief-from-receipt",
                    "belief lasts a whole ttl from the answer, however late that is",
                    "LK-501",
                    Believer::new),
            lease(
                    "13",
                    "held-is-a-flag",
                    "isHeld is a flag that a timer sets an eighth of the ttl late",
                    "LK-503",
                    Flag::new),
            lease("14", "loss-not-told", "nobody is told of a loss", "LK-802", Silent::new),
            Mutant.client("15", "loss-told-twice", "listeners are told of each loss twice", "LK-505", Stutter::new),
            lease("16", "loss-after-release", "a normal release is told as a loss", "LK-802", Alarmist::new),
            lease("16b", "release-twice", "a second release is answered anew", "LK-702", Repeating::new),
            lease(
                    "16c",
                    "held-until-answered",
                    "isHeld is true until the release is answered",
                    "LK-706",
                    Clinging::new),
            lease(
                    "140",
                    "lapsed-is-given-back",
                    "a lease that has ended is given back as soon as its loss is told",
                    "LK-516",
                    Hasty::new),
            lease("140b", "stopped-is-not-told", "the release of a lost lease is not passed on", "LK-516", Mute::new));

    private LeaseMutants() {}

    @FunctionalInterface
    private interface Alteration {
        Lease of(Lease lease, TimeSource clock);
    }

    private static Mutant lease(String number, String name, String defect, String rule, Alteration alteration) {
        return Mutant.client(
                number,
                name,
                defect,
                rule,
                (client, clock) -> new AlteredClient(client, lease -> alteration.of(lease, clock)));
    }

    private static final class Restless extends ForwardingLease {
        private final TimeSource clock;
        private final long begun;

        Restless(Lease to, TimeSource clock) {
            super(to);
            this.clock = clock;
            this.begun = clock.nanoTime();
        }

        @Override
        public long token() {
            return super.token() + (clock.nanoTime() - begun) / (ttl().toNanos() / 2);
        }
    }

    private static final class Believer extends ForwardingLease {
        private final TimeSource clock;
        private volatile long lastHeard;
        private volatile boolean released;

        Believer(Lease to, TimeSource clock) {
            super(to);
            this.clock = clock;
            heard();
        }

        /** Its own deadline is three quarters of the ttl behind the last answer: as if that had been a quarter late. */
        private boolean heard() {
            if (super.isHeld()) {
                long end = clock.nanoTime() + super.remaining().toNanos();
                lastHeard = end - ttl().toNanos() / 4 * 3;
            }
            return clock.nanoTime() - (lastHeard + ttl().toNanos()) < 0;
        }

        @Override
        public boolean isHeld() {
            return !released && heard();
        }

        @Override
        public State state() {
            return isHeld() ? State.HELD : super.state();
        }

        @Override
        public Duration remaining() {
            return isHeld() ? Duration.ofNanos(lastHeard + ttl().toNanos() - clock.nanoTime()) : super.remaining();
        }

        @Override
        public ReleaseOutcome release() {
            released = true;
            return super.release();
        }

        @Override
        public void close() {
            released = true;
            super.close();
        }
    }

    private static final class Flag extends ForwardingLease {
        private volatile boolean held = true;

        Flag(Lease to, TimeSource clock) {
            super(to);
            long late = ttl().toNanos() / 8;
            var unused = to.lost().thenAccept(loss -> clock.at(clock.nanoTime() + late, () -> held = false));
        }

        @Override
        public boolean isHeld() {
            return held;
        }

        @Override
        public ReleaseOutcome release() {
            held = false;
            return super.release();
        }

        @Override
        public void close() {
            held = false;
            super.close();
        }
    }

    private static final class Silent extends ForwardingLease {
        Silent(Lease to, TimeSource clock) {
            super(to);
        }

        @Override
        public CompletionStage<LeaseLoss> lost() {
            return new CompletableFuture<LeaseLoss>().minimalCompletionStage();
        }
    }

    private static final class Stutter extends ForwardingClient {
        Stutter(LockClient to, TimeSource clock) {
            super(to);
        }

        @Override
        public Subscription addListener(LockListener listener) {
            return super.addListener(event -> {
                listener.onEvent(event);
                if (event.type() == LockEvent.Type.LOST) {
                    listener.onEvent(event);
                }
            });
        }
    }

    private static final class Alarmist extends ForwardingLease {
        private final CompletableFuture<LeaseLoss> lost = new CompletableFuture<>();

        Alarmist(Lease to, TimeSource clock) {
            super(to);
            var unused = to.lost().thenAccept(lost::complete);
        }

        @Override
        public CompletionStage<LeaseLoss> lost() {
            return lost.minimalCompletionStage();
        }

        @Override
        public ReleaseOutcome release() {
            ReleaseOutcome outcome = super.release();
            lost.complete(new LeaseLoss(LeaseLoss.Cause.EXPIRED, Duration.ZERO, Optional.empty(), "no longer held"));
            return outcome;
        }

        @Override
        public void close() {
            ReleaseOutcome outcome = release();
            if (outcome == ReleaseOutcome.UNKNOWN) {
                super.close();
            }
        }
    }

    private static final class Repeating extends ForwardingLease {
        private volatile boolean released;

        Repeating(Lease to, TimeSource clock) {
            super(to);
        }

        @Override
        public ReleaseOutcome release() {
            ReleaseOutcome outcome = super.release();
            boolean again = released;
            released = true;
            return again ? ReleaseOutcome.ALREADY_LOST : outcome;
        }
    }

    private static final class Hasty extends ForwardingLease {
        Hasty(Lease to, TimeSource clock) {
            super(to);
            var unused = to.lost().thenCompose(loss -> to.releaseAsync());
        }
    }

    private static final class Mute extends ForwardingLease {
        Mute(Lease to, TimeSource clock) {
            super(to);
        }

        @Override
        public ReleaseOutcome release() {
            return state() == State.LOST ? ReleaseOutcome.ALREADY_LOST : super.release();
        }

        @Override
        public void close() {
            if (state() != State.LOST) {
                super.close();
            }
        }
    }

    private static final class Clinging extends ForwardingLease {
        Clinging(Lease to, TimeSource clock) {
            super(to);
        }

        @Override
        public boolean isHeld() {
            return state() == State.RELEASED || super.isHeld();
        }
    }
}
