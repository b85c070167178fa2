// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;

/**
 * What the kit opens a client from, its options resolved.
 *
 * @param url the URL
 * @param options what the application set in code
 * @param time the client's clock and timers
 * @param name the name of the client
 * @param ttl of locks whose options set none
 * @param requestTimeout how long a call may take
 * @param connectTimeout how long it may take to connect
 * @param closeTimeout how long the close of the client may take
 * @param eager whether to connect when the client is opened
 */
public record Settings(
        LockUrl url,
        ClientOptions options,
        TimeSource time,
        String name,
        Duration ttl,
        Duration requestTimeout,
        Duration connectTimeout,
        Duration closeTimeout,
        boolean eager) {

    /** Where the value of an option is looked up: what code set, over the URL, over the default. */
    @FunctionalInterface
    public interface Lookup {
        /** {@return the value} */
        <T> T get(Option<T> option);
    }

    /** {@return the settings of the client that is opened with that URL and those options} */
    public static Settings of(LockUrl url, ClientOptions options, TimeSource time, Lookup lookup) {
        return new Settings(
                url,
                options,
                time,
                lookup.get(CommonOptions.NAME),
                lookup.get(CommonOptions.TTL),
                lookup.get(CommonOptions.REQUEST_TIMEOUT),
                lookup.get(CommonOptions.CONNECT_TIMEOUT),
                lookup.get(CommonOptions.CLOSE_TIMEOUT),
                lookup.get(CommonOptions.CONNECT) == CommonOptions.Connect.EAGER);
    }
}
