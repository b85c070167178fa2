// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.DurableRecord;

/**
 * What a member has promised and must not forget: after a start it waits until no lease can outlive its promise.
 *
 * @param epoch its epoch
 * @param horizon no lease ends later than this, on the cell's clock
 */
public record MemberRecord(long epoch, long horizon) implements DurableRecord {}
