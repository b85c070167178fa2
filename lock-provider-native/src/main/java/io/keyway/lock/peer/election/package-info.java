// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The election of leaders by views that a majority of the members has voted for. Begin with
 * {@link io.keyway.lock.peer.election.Election}.
 */
@NullMarked
package io.keyway.lock.peer.election;

import org.jspecify.annotations.NullMarked;
