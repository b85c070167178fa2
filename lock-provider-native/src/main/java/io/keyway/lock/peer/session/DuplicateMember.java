// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;

/**
 * Two processes run under the id of one member, and both talk to this one.
 *
 * @param there where the one is seen that stays, which may be unknown: empty
 * @param refused where the later one is seen, which was refused
 */
public record DuplicateMember(String node, String there, String refused) implements Notice {}
