// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Drivers and transports: what carries frames between cells of different processes, or of one. Begin with
 * {@link io.keyway.lock.peer.net.CellLoop}, which drives a cell, and {@link io.keyway.lock.peer.net.FrameLink}, a
 * member's connection; then {@link io.keyway.lock.peer.net.ClientLoop}, on which clients run.
 */
@NullMarked
package io.keyway.lock.peer.net;

import org.jspecify.annotations.NullMarked;
