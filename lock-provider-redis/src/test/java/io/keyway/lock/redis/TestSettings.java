// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;

/** Settings as a client has them, from a URL and options, without a client. */
final class TestSettings {

    /** Settings have no use for time. */
    private static final TimeSource NO_TIME = new TimeSource() {
        @Override
        public long nanoTime() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            throw new UnsupportedOperationException();
        }
    };

    private TestSettings() {}

    /** Those of a client whose connections are made within that time. */
    static RedisSettings of(String url, Duration connectTimeout) {
        return of(url, ClientOptions.defaults().with(CommonOptions.CONNECT_TIMEOUT, connectTimeout));
    }

    /** Those of a client named test, unless the options name it. */
    static RedisSettings of(String url, ClientOptions options) {
        ClientOptions named = options.get(CommonOptions.NAME).isPresent() ? options : options.withName("test");
        return RedisSettings.of(
                new OpenRequest(LockUrl.parse(url), named, TestSettings.class.getClassLoader(), NO_TIME), 0);
    }
}
