// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What a member is wherever it runs, on one machine alone or in a cluster: its directory and file, its promises, the
 * grants that it carries over, its cells and its end. Begin with {@link io.keyway.lock.peer.member.Member}.
 */
@NullMarked
package io.keyway.lock.peer.member;

import org.jspecify.annotations.NullMarked;
