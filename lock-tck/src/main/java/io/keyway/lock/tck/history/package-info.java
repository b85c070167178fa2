// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Histories of several processes on one clock: what users asked, were granted and believed, and the rules that no such
 * history may break.
 */
@NullMarked
package io.keyway.lock.tck.history;

import org.jspecify.annotations.NullMarked;
