// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Real Redis servers for tests: one, a set with sentinels, a cluster. */
@NullMarked
package io.keyway.lock.redis.server;

import org.jspecify.annotations.NullMarked;
