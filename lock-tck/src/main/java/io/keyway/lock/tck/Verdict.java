// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

/** What became of a check. */
public enum Verdict {
    /** The provider did what the rule says. */
    PASS,
    /** It did not. */
    FAIL,
    /**
     * The rule does not bind this provider: a feature that it does not declare, a second process where its locks live
     * in one.
     */
    NOT_APPLICABLE,
    /** The subject gave no means to try it, such as a way to restart its server. Never called passed. */
    NOT_RUN,
    /**
     * It should have been tried and could not: faults that went round the proxy, a machine that stalled. The provider
     * is not called compatible.
     */
    INCONCLUSIVE,
    /** Somebody's list of exclusions names it. The provider is not called compatible. */
    EXCLUDED
}
