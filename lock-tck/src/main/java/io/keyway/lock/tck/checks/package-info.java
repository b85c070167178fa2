// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The checks, one class for each chapter of the rules. */
@NullMarked
package io.keyway.lock.tck.checks;

import org.jspecify.annotations.NullMarked;
