// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

/** Why a member refuses a link. */
public enum RefuseCode {
    /** No common wire version. */
    WIRE(1, true),
    /** The proof is wrong: another secret, or none. */
    NOT_AUTHENTICATED(2, true),
    CLUSTER(3, true),
    SETTINGS(4, true),
    MEMBERS(5, true),
    ALGORITHM(6, true),
    ROLE(7, true),
    /** The session is over; the client may say a fresh hello once it has dropped everything of it. */
    UNKNOWN_SESSION(8, false),
    /** A newer link of this client was admitted. */
    STALE_ATTEMPT(9, false),
    /** The client claims what can't be: a broken or hostile peer. */
    PROTOCOL(10, true),
    /** The member is about to end. */
    CLOSING(11, false),
    /** Another member answers at that address. */
    NODE(12, false),
    /** The member has no such cell. */
    SHARD(13, false),
    /** Another process under the id of the member that says hello is there, and lives. */
    DOUBLED(14, true),
    /** The client gives a floor of tokens that is lower than the one that another has given. */
    LOW_FLOOR(15, true),
    /** The client gives a floor of tokens above what others are granted who are connected. */
    HIGH_FLOOR(16, false),
    /** Another member leads, or none, or this one does not know whether it does. */
    NOT_LEADING(17, false),
    /** The member that says hello is not in the list that counts. */
    NOT_LISTED(18, false);

    private final int code;
    private final boolean lasting;

    RefuseCode(int code, boolean lasting) {
        this.code = code;
        this.lasting = lasting;
    }

    /** On the wire. */
    public int code() {
        return code;
    }

    /** True if asking again changes nothing until somebody changes a configuration. */
    public boolean lasting() {
        return lasting;
    }
}
