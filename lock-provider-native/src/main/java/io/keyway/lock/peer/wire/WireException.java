// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

/** Bytes that no peer of this wire version sends. The link they came from is closed. */
public final class WireException extends Exception {
    private static final long serialVersionUID = 1;

    /** @param reason a few words; no bytes of the peer but numbers */
    public WireException(String reason) {
        super(reason, null, false, false);
    }
}
