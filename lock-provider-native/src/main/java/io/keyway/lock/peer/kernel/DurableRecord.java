// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** What must be on disk before any later output of the cell leaves it. Immutable. */
public interface DurableRecord {}
