// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The lease service: a manager per lock name at the member, a helper per lock name at the client, caching and recall. */
@NullMarked
package io.keyway.lock.peer.lease;

import org.jspecify.annotations.NullMarked;
