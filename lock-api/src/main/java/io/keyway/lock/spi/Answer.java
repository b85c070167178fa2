// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

/** What became of a renewal or a release. */
public enum Answer {
    /** Done by this request. */
    DONE,
    /** That grant was not in force. */
    NOT_HELD,
    /** The store did not say. */
    UNKNOWN
}
