// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** All that the kit has about exclusion, tokens and modes, with faults in every place. */
@Tag("soak")
class TckOfTheBakerySoakTest extends TckOfTheBakeryTest {
    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL)
                .withOnly(Stream.of(3, 4, 6, 12).map(group -> "LK-" + group).toList());
    }
}
