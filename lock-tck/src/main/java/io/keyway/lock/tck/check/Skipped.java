// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.Verdict;

/** The check could not be made, which says nothing about the provider. */
public final class Skipped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Verdict verdict;

    Skipped(Verdict verdict, String why) {
        super(why);
        this.verdict = verdict;
    }

    /** NOT_RUN, NOT_APPLICABLE or INCONCLUSIVE. */
    Verdict verdict() {
        return verdict;
    }
}
