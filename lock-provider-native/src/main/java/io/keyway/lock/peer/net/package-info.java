// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Drivers and transports: what carries frames between cells of different processes, or of one. */
@NullMarked
package io.keyway.lock.peer.net;

import org.jspecify.annotations.NullMarked;
