// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Scope;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RunContextTest {
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

    @Test
    void whoCountsInWholeSecondsIsAskedForWholeSeconds() {
        assertThat(ttl(Duration.ofMillis(100), 1.5)).isEqualTo(Duration.ofMillis(1800));
        assertThat(ttl(Duration.ofMillis(1500), 1.5)).isEqualTo(Duration.ofMillis(1800));
        assertThat(ttl(Duration.ofSeconds(1), 1.5)).isEqualTo(Duration.ofSeconds(2));
        assertThat(ttl(Duration.ofSeconds(2), 2)).isEqualTo(Duration.ofSeconds(3));
    }

    private static Duration ttl(Duration least, double factor) {
        Guarantees sane = guarantees();
        Guarantees other =
                new Guarantees(sane.exclusion(), sane.belief(), sane.tokens(), sane.failover(), least, sane.maxTtl());
        return place(URL, factor, other).ttl();
    }

    private static Optional<Duration> requestTimeout(String url, double factor, ClientOptions options) {
        return place(url, factor, guarantees()).paced(options).get(CommonOptions.REQUEST_TIMEOUT);
    }

    private static Guarantees guarantees() {
        try (LockClient client = Locks.open(URL)) {
            return client.guarantees();
        }
    }

    /** The place for tests of a provider that names none. */
    static TestPlace noPlace(String url) {
        return new TestPlace(
                LockUrl.parse(url), Optional.empty(), false, RunContextTest.class.getClassLoader(), where -> {});
    }

    private static RunContext place(String url, double factor, Guarantees guarantees) {
        return new RunContext(
                TckSubject.of(url),
                TckConfig.of(Profile.SMOKE).withTimeFactor(factor),
                LockUrl.parse(url),
                Set.of(),
                guarantees,
                Scope.NETWORK,
                true,
                Set.of(),
                noPlace(url),
                new Links(),
                new AtomicBoolean(),
                new RealClock(),
                "run");
    }
}
