// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** What travels over a link in one piece. Immutable. */
public interface Frame {}
