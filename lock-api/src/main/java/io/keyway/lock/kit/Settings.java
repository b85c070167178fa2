// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;

/** The options of one client, resolved: what code set, over the URL, over the default. */
record Settings(
        String name,
        LockOptions lockDefaults,
        Duration ttl,
        Duration requestTimeout,
        Duration connectTimeout,
        Duration closeTimeout,
        boolean eager) {

    static Settings of(OpenRequest request) {
        return new Settings(
                request.clientName(),
                request.options().lockDefaults(),
                request.get(CommonOptions.TTL),
                request.get(CommonOptions.REQUEST_TIMEOUT),
                request.get(CommonOptions.CONNECT_TIMEOUT),
                request.get(CommonOptions.CLOSE_TIMEOUT),
                request.get(CommonOptions.CONNECT) == CommonOptions.Connect.EAGER);
    }
}
