// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** An algorithm of the tests alone: it proves that one can be added without a change elsewhere. */
@NullMarked
package io.keyway.lock.peer.counter;

import org.jspecify.annotations.NullMarked;
