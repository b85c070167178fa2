// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;

/**
 * A member's cell was told of an epoch of its member that it did not know, and goes on above it after a quarantine: its
 * file was lost, is an old copy, or is used twice.
 *
 * @param epoch the new one
 */
public record EpochAdopted(long epoch) implements Notice {}
