// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** What stands before an object of a provider. */
@NullMarked
package io.keyway.lock.tck.wrap;

import org.jspecify.annotations.NullMarked;
