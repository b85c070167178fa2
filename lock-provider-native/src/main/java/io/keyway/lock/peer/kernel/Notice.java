// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * What a machine tells the user of its cell. Immutable, but for words that are published to user threads on purpose.
 */
public interface Notice {}
