// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;

/** To the same machine as {@link Holding}: a client has said all that it holds. */
public record Spoken(Incarnation client) implements Call {}
