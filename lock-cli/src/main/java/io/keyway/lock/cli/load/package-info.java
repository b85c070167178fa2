// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** `keyway load`: processes that use locks at random, what becomes of them, and the rules that judge it. */
@NullMarked
package io.keyway.lock.cli.load;

import org.jspecify.annotations.NullMarked;
