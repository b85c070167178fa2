// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Keyway beside other lock libraries, on the same server in the same run. */
@NullMarked
package io.keyway.lock.bench;

import org.jspecify.annotations.NullMarked;
