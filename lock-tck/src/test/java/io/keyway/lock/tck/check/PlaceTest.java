// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Reach;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlaceTest {
    private static final String URL = "lock:reference://place";

    @Test
    void aRequestMayTakeLongerWhereAllTermsAreLonger() {
        assertThat(requestTimeout(URL, 4, ClientOptions.defaults())).contains(Duration.ofSeconds(8));
        assertThat(requestTimeout(URL, 1, ClientOptions.defaults())).isEmpty();
    }

    @Test
    void aRequestTimeoutThatIsGivenStays() {
        Duration given = Duration.ofMillis(500);
        assertThat(requestTimeout(URL, 4, ClientOptions.defaults().withRequestTimeout(given)))
                .contains(given);
        assertThat(requestTimeout(URL + "?requestTimeout=3s", 4, ClientOptions.defaults()))
                .as("the URL's own holds")
                .isEmpty();
    }

    private static Optional<Duration> requestTimeout(String url, double factor, ClientOptions options) {
        Guarantees guarantees;
        try (LockClient client = Locks.open(URL)) {
            guarantees = client.guarantees();
        }
        Place place = new Place(
                TckSubject.of(url),
                TckConfig.of(Profile.SMOKE).withTimeFactor(factor),
                LockUrl.parse(url),
                Set.of(),
                guarantees,
                Reach.NETWORK,
                true,
                false,
                new Links(),
                new RealClock(),
                "run");
        return place.paced(options).get(CommonOptions.REQUEST_TIMEOUT);
    }
}
