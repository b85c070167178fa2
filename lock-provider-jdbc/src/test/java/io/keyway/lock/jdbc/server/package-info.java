// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Databases for tests. */
@NullMarked
package io.keyway.lock.jdbc.server;

import org.jspecify.annotations.NullMarked;
