// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Tests of the session layer: scripts of two cells, and a search over all short ones. */
@NullMarked
package io.keyway.lock.peer.session;

import org.jspecify.annotations.NullMarked;
