// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** What members might do more cheaply, and unsafely: the campaign must find each. */
enum Shortcut {
    /** A member with another list opens after a quarantine, whatever the others run with. */
    OPENS_UNCONFIRMED,
    /** The quarantine counts from the member's start, and not from the last word of another member. */
    WAITS_FROM_ITS_START,
    /** The quarantine is as long as the leases of now, whatever leases were granted before the list changed. */
    FORGETS_LONGER_LEASES,
    /** What an operator says of a member's first use is believed, although another life of it was met. */
    BELIEVES_EACH_FIRST_USE,
    /** A member decides on every name that it is asked for. */
    DECIDES_ON_ALL_NAMES,
    /** A release goes to whoever decides on the name by the latest list, and not to the cell that told of the grant. */
    RELEASES_BY_THE_LATEST_LIST,
    /** A withdrawal goes there too, and not to where the request may stand. */
    WITHDRAWS_BY_THE_LATEST_LIST,
    /** Clients believe by a clock that stands still while their machine sleeps. */
    SLEEPS_UNNOTICED,
    /** A member believes in the records of a directory that was put back. */
    BELIEVES_COPIES,
    /** The first record of a life says what that life waits for, and not what former lives have promised to members. */
    SHORTENS_HORIZONS
}
