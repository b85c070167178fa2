// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

/** Why a member refuses a link. */
public enum RefuseCode {
    /** No common wire version. */
    WIRE(true),
    /** The proof is wrong: another secret, or none. */
    NOT_AUTHENTICATED(true),
    CLUSTER(true),
    SETTINGS(true),
    MEMBERS(true),
    ALGORITHM(true),
    ROLE(true),
    /** The session is over; the client may say a fresh hello once it has dropped everything of it. */
    UNKNOWN_SESSION(false),
    /** A newer link of this client was admitted. */
    STALE_ATTEMPT(false),
    /** The client claims what can't be: a broken or hostile peer. */
    PROTOCOL(true),
    /** The member is about to end. */
    CLOSING(false);

    private final boolean lasting;

    RefuseCode(boolean lasting) {
        this.lasting = lasting;
    }

    /** True if asking again changes nothing until somebody changes a configuration. */
    public boolean lasting() {
        return lasting;
    }
}
