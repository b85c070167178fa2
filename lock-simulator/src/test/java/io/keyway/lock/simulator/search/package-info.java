// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Searches through all orders of events of small worlds. */
@NullMarked
package io.keyway.lock.simulator.search;

import org.jspecify.annotations.NullMarked;
