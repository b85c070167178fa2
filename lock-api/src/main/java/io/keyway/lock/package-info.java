// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** What applications see: locks, leases and semaphores of any provider, chosen by URL. */
@NullMarked
package io.keyway.lock;

import org.jspecify.annotations.NullMarked;
