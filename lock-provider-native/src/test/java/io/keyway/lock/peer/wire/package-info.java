// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Tests of the codec: golden bytes, round trips, mutations. */
@NullMarked
package io.keyway.lock.peer.wire;

import org.jspecify.annotations.NullMarked;
