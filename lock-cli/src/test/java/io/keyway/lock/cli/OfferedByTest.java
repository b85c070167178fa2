// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Feature;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.LockProvider;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The message of a missing feature names those of our providers that offer it. */
class OfferedByTest {

    @ParameterizedTest
    @EnumSource(names = {"READ_WRITE", "SEMAPHORE", "UPGRADE"})
    void theMessageNamesTheProvidersThatDo(Feature feature) {
        String message = new UnsupportedFeatureException(feature, "x").getMessage();

        for (LockProvider provider : Locks.discover(getClass().getClassLoader()).providers()) {
            for (String scheme : List.of("native", "redis", "zookeeper", "jdbc:postgresql")) {
                String first = scheme.split(":", 2)[0];
                if (provider.schemes().contains(first)) {
                    assertThat(message.contains("lock:" + first))
                            .as("%s, of which says: %s", scheme, message)
                            .isEqualTo(provider.features(LockUrl.parse("lock:" + scheme + "://h"))
                                    .contains(feature));
                }
            }
        }
    }
}
