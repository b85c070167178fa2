// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What a check is made of: the annotation that says what it proves, and the trial that hands it clients, time, faults
 * and processes.
 */
@NullMarked
package io.keyway.lock.tck.check;

import org.jspecify.annotations.NullMarked;
