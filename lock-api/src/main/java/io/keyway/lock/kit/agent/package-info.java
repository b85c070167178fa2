// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** How transactions over many locks find the cycle in which they wait for each other, and who gives way. */
@NullMarked
package io.keyway.lock.kit.agent;

import org.jspecify.annotations.NullMarked;
