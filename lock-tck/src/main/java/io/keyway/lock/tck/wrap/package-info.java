// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Clients that stand before others and change one thing: recorders, and the mutants that prove the kit. */
@NullMarked
package io.keyway.lock.tck.wrap;

import org.jspecify.annotations.NullMarked;
