// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Peer;

/**
 * To the machine that decides whether this member leads: a client can hold something from now on, with a longer
 * ttl than before.
 *
 * @param ttl of its longest lease, in nanoseconds
 */
public record Holding(Peer peer, Incarnation client, long ttl) implements Call {}
