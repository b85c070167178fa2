// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;

/** To the same: a client has said all that it holds, by the word of a former leader or of this one. */
public record Spoken(Incarnation client) implements Call {}
