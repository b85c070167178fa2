// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What a member does for the clients that are attached to it, in algorithms where any member serves any client: it
 * keeps their sessions, asks the other members on their behalf, and leases to them what it got. Begin with
 * {@link io.keyway.lock.peer.home.HomeManager}.
 */
@NullMarked
package io.keyway.lock.peer.home;

import org.jspecify.annotations.NullMarked;
