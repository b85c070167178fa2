// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The `keyway` command. */
@NullMarked
package io.keyway.lock.cli;

import org.jspecify.annotations.NullMarked;
