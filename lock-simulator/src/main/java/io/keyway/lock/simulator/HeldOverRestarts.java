// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/**
 * R7: whoever believes in a lease is not told that its member knows nothing of it, or does not want to. A member that
 * starts again waits until nobody can believe, and until then takes what its clients say that they hold; so does one
 * that leads again. Not for worlds whose operator gives members other lists or settings: a member takes nothing of
 * names that are no longer its own. Nor for Lamport's queue, whose members take no token that is above what they know
 * after the loss of their file, and for the bakery, whose members take none.
 */
final class HeldOverRestarts implements LeaseOracle {
    @Override
    public void finished(Use use, Use.Finish how) {
        long left = use.deadline() - use.clock();
        if (how == Use.Finish.DENIED && left > 0) {
            throw new Violation("R7", use + " is denied, and its user could believe for " + Nanos.text(left) + " more");
        }
    }
}
