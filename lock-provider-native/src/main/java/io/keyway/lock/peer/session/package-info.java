// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Sessions between a client and a member: handshake, sequence, resend, and the stamps and echoes that carry every
 * lease. Begin with {@link io.keyway.lock.peer.session.ClientSession}, then
 * {@link io.keyway.lock.peer.session.MemberSessions} and its {@link io.keyway.lock.peer.session.SessionTable}.
 */
@NullMarked
package io.keyway.lock.peer.session;

import org.jspecify.annotations.NullMarked;
