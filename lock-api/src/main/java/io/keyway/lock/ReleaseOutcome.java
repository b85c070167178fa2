// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** What became of a release. */
public enum ReleaseOutcome {
    /** The authority ended the grant on this request, or the lease went back to a local cache that answers for it. */
    RELEASED,
    /** The lease had ended before: its deadline had passed, or the authority had ended it. */
    ALREADY_LOST,
    /** No answer in time. The release is repeated in the background; at the latest the grant ends with its ttl. */
    UNKNOWN
}
