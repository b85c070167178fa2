// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

/** Bytes that no peer of this wire version sends. The link they came from is closed. */
public final class WireException extends Exception {
    private static final long serialVersionUID = 1;

    private final int version;

    /** @param reason a few words; no bytes of the peer but numbers */
    public WireException(String reason) {
        this(reason, 0);
    }

    private WireException(String reason, int version) {
        super(reason, null, false, false);
        this.version = version;
    }

    /** A frame of another wire version. */
    static WireException version(int theirs, int ours) {
        return new WireException("wire version " + theirs + "; this end speaks " + ours, theirs);
    }

    /** The wire version of a peer that speaks another one; 0 if that is not what is wrong. */
    public int version() {
        return version;
    }
}
