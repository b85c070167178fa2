// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The processes of an election that talk with each other: {@link io.keyway.lock.group.ElectionGroup}.
 */
@NullMarked
package io.keyway.lock.group;

import org.jspecify.annotations.NullMarked;
