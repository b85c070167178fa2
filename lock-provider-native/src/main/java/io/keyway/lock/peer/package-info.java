// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The native peer-to-peer provider. */
@NullMarked
package io.keyway.lock.peer;

import org.jspecify.annotations.NullMarked;
