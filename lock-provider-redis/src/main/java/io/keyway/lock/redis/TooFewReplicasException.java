// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.io.IOException;

/** A grant that fewer replicas know of than were asked for. */
final class TooFewReplicasException extends IOException {
    private static final long serialVersionUID = 1L;

    TooFewReplicasException(int known, int wanted) {
        super("only " + known + " of " + wanted + " replicas acknowledged the grant in time (option waitReplicas)");
    }
}
