// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What real processes write down about their locks on the clock of their machine, and the rules that judge it. For
 * crews of processes that use locks while something is done to them.
 */
@NullMarked
package io.keyway.lock.tck.journal;

import org.jspecify.annotations.NullMarked;
