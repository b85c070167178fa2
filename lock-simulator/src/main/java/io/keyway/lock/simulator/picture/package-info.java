// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What happened among several processes, as records, and the two pictures of it: a sequence chart in text and a
 * space-time diagram in a page. It knows nothing of who made the records.
 */
@NullMarked
package io.keyway.lock.simulator.picture;

import org.jspecify.annotations.NullMarked;
