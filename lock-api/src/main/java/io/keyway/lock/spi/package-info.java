// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** What providers see: the contracts that a provider implements and the kit stands on. */
@NullMarked
package io.keyway.lock.spi;

import org.jspecify.annotations.NullMarked;
