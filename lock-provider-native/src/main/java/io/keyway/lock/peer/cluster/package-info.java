// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Several members that share the names of one cluster. */
@NullMarked
package io.keyway.lock.peer.cluster;

import org.jspecify.annotations.NullMarked;
