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
    /** A client is told of a lease before a majority knows how long it is. */
    UNRECORDED {
        @Override
        public Machine machine() {
            return new Unrecorded();
        }
    },
    /** A majority records a shorter time although a lease needs the longer one. */
    TOO_SHORT {
        @Override
        public Machine machine() {
            return new TooShort();
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

    private static final class Unrecorded extends Leadership {
        @Override
        boolean awaitsRecord() {
            return false;
        }

        @Override
        Leadership fresh() {
            return new Unrecorded();
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
}
