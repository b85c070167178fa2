// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/** A machine of a member that promises more than the grants of locks say. */
public interface Promising {
    /** Whether somebody may count on something that a next life of this member would not know. */
    boolean hasPromised();
}
