// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** What stands between the operating system and the protocol: the directory, its locks, the member file and the processes of local mode. */
@NullMarked
package io.keyway.lock.peer.node;

import org.jspecify.annotations.NullMarked;
