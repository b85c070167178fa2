// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Locks, leases and semaphores in a SQL database. Begin with {@link io.keyway.lock.jdbc.TableStore}, one row for each
 * lock, which the kit's rules change; then {@link io.keyway.lock.jdbc.Dialect}, what is said to a database in its own
 * words, and {@link io.keyway.lock.jdbc.Connections}, the way to it.
 */
@NullMarked
package io.keyway.lock.jdbc;

import org.jspecify.annotations.NullMarked;
