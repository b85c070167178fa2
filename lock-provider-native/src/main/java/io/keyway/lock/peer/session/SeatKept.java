// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;

/** A member that was to give its seat away keeps it: no other member can take it now; or it has none. */
public record SeatKept() implements Notice {}
