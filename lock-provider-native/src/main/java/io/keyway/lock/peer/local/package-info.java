// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Local mode: the processes of one machine, one of which serves the others. */
@NullMarked
package io.keyway.lock.peer.local;

import org.jspecify.annotations.NullMarked;
