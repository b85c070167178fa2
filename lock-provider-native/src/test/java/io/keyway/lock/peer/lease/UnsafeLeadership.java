// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Machine;

/** A leader that leaves one rule out. */
public enum UnsafeLeadership {
    /** Who takes over grants at once. */
    NOT_SILENT {
        @Override
        public Machine machine() {
            return new NotSilent();
        }
    },
    /** Who takes over takes claims at once. */
    NOT_CLOSED {
        @Override
        public Machine machine() {
            return new NotClosed();
        }
    },
    /** A leader serves for as long as it has not heard of another one. */
    WITHOUT_LEASE {
        @Override
        public Machine machine() {
            return new WithoutLease();
        }
    },
    /** Who takes over grants with its own epoch. */
    OWN_EPOCH {
        @Override
        public Machine machine() {
            return new OwnEpoch();
        }
    },
    /** A majority records a shorter time although a lease needs the longer one. */
    TOO_SHORT {
        @Override
        public Machine machine() {
            return new TooShort();
        }
    },
    /** A client is told of a lease before a majority knows that it can hold something. */
    UNNOTED {
        @Override
        public Machine machine() {
            return new Leaving(this);
        }
    },
    /** A member that has lost its notes counts as if it had them. */
    LOSS_COUNTED {
        @Override
        public Machine machine() {
            return new Leaving(this);
        }
    },
    /** Who takes over waits for nobody that was noted. */
    NOT_AWAITED {
        @Override
        public Machine machine() {
            return new Leaving(this);
        }
    },
    /** Any member may have the list changed, whether or not a majority has the notes of its leader. */
    UNSETTLED {
        @Override
        public Machine machine() {
            return new Leaving(this);
        }
    };

    /** One that is at rest. */
    public abstract Machine machine();

    private static final class NotSilent extends Leadership {
        @Override
        boolean isSilentAtFirst() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new NotSilent();
        }
    }

    private static final class NotClosed extends Leadership {
        @Override
        boolean isClosedAtFirst() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new NotClosed();
        }
    }

    private static final class WithoutLease extends Leadership {
        @Override
        boolean heedsLease() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new WithoutLease();
        }
    }

    private static final class OwnEpoch extends Leadership {
        @Override
        boolean raisesEpoch() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new OwnEpoch();
        }
    }

    private static final class TooShort extends Leadership {
        @Override
        boolean heedsLeases() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new TooShort();
        }
    }

    /** One that leaves out a rule about notes. */
    private static final class Leaving extends Leadership {
        private final UnsafeLeadership variant;

        Leaving(UnsafeLeadership variant) {
            this.variant = variant;
        }

        @Override
        boolean awaitsNotes() {
            return variant != UNNOTED;
        }

        @Override
        boolean heedsLoss() {
            return variant != LOSS_COUNTED;
        }

        @Override
        boolean waitsForNoted() {
            return variant != NOT_AWAITED;
        }

        @Override
        boolean settlesLists() {
            return variant != UNSETTLED;
        }

        @Override
        Leadership fresh() {
            return new Leaving(variant);
        }
    }
}
