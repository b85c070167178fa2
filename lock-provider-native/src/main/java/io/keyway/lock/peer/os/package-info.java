// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What the operating system says: its clocks, files and file systems, and its locks on bytes of files. Begin with
 * {@link io.keyway.lock.peer.os.MachineFacts} and {@link io.keyway.lock.peer.os.LockFile}.
 */
@NullMarked
package io.keyway.lock.peer.os;

import org.jspecify.annotations.NullMarked;
