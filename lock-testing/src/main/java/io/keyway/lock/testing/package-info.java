// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Real processes that take locks at random while faults are injected, and the history that they write, judged by rules.
 * For the tests of Keyway's own providers.
 */
@NullMarked
package io.keyway.lock.testing;

import org.jspecify.annotations.NullMarked;
