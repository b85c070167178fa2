// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.LockMode;

/**
 * One holder or waiter in an answer.
 *
 * @param token the token in use; 0 for a waiter
 * @param nanos for how long it has held or waited
 */
public record Party(LeaseOwner owner, LockMode mode, int permits, long token, long nanos) {}
