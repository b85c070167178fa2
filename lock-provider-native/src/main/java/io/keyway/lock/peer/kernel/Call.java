// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** What one machine, the session layer or a user tells a machine of the same cell. Immutable. */
public interface Call {}
