// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Rules that hold for the whole provider. */
@NullMarked
package io.keyway.lock.peer;

import org.jspecify.annotations.NullMarked;
