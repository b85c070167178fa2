// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;

/** A grant as its lease sees it; the client's user asks, and believes while this says so. */
final class WorldGrant {

    final Grant grant;
    final Request request;
    long deadline;
    boolean over;

    WorldGrant(Grant grant, Request request, long deadline) {
        this.grant = grant;
        this.request = request;
        this.deadline = deadline;
    }

    boolean believed(long now) {
        return !over && now - deadline < 0;
    }

    /** Believed, or lost by the clock so lately that its user may not have stopped. */
    boolean used(long now) {
        return !over && now - deadline < grant.ttl().toNanos() / 4;
    }
}
