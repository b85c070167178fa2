// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Clients, locks and leases that pass everything on, for tests that alter some of it. */
@NullMarked
package io.keyway.lock.tck.wrap;

import org.jspecify.annotations.NullMarked;
