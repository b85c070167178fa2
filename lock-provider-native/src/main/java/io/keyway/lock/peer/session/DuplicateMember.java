// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;

/** Two processes run under the id of one member, and both talk to this one; the later one was refused. */
public record DuplicateMember(String node) implements Notice {}
