// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Which algorithms there are: the one place outside of their own packages that names them. */
@NullMarked
package io.keyway.lock.peer.algorithms;

import org.jspecify.annotations.NullMarked;
