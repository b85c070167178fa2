// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;

/** A leader that was asked to give its seat away keeps it: no other member can take it now. */
public record SeatKept() implements Notice {}
