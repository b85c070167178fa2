// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Options of a lock and of a client, and which wins. */
class OptionsTest {

    @Test
    void lockOptionsOverlayWhatIsSet() {
        LockOptions lower = LockOptions.none()
                .withTtl(Duration.ofSeconds(5))
                .withMaxHold(Duration.ofMinutes(1), Duration.ofSeconds(5))
                .withMetadata(Map.of("a", "b"));
        LockOptions upper = LockOptions.none()
                .withTtl(Duration.ofSeconds(7))
                .withRenewal(Renewal.NONE)
                .withWarnAfter(Duration.ofSeconds(1));

        LockOptions both = lower.overlaidBy(upper);

        assertThat(both.ttl()).contains(Duration.ofSeconds(7));
        assertThat(both.maxHold()).contains(Duration.ofMinutes(1));
        assertThat(both.unlockTime()).contains(Duration.ofSeconds(5));
        assertThat(lower.overlaidBy(upper.withMaxHold(Duration.ofHours(1))).unlockTime())
                .as("of another maxHold")
                .isEmpty();
        assertThat(both.renewal()).contains(Renewal.NONE);
        assertThat(both.metadata()).contains(Map.of("a", "b"));
        assertThat(both.warnAfter()).contains(Duration.ofSeconds(1));
        assertThat(lower.overlaidBy(LockOptions.none())).isEqualTo(lower);
        assertThat(LockOptions.none().overlaidBy(upper)).isEqualTo(upper).hasSameHashCodeAs(upper);
        assertThat(upper).hasToString("LockOptions{ttl=7s, renewal=NONE, warnAfter=1s}");
        assertThat(LockOptions.none()).hasToString("LockOptions{}");
    }

    @Test
    void lockOptionsRefuseWhatNoProviderTakes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.none().withTtl(Duration.ofMillis(99)))
                .withMessage("ttl 99ms is outside 100ms to 24h");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> LockOptions.none().withTtl(Duration.ofHours(24).plusNanos(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.none().withMaxHold(Duration.ZERO));
        Duration minute = Duration.ofMinutes(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.none().withMaxHold(minute, minute))
                .withMessageContaining("unlockTime 1m is no shorter than maxHold 1m");
        assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.none().withMaxHold(minute, Duration.ZERO));
        assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.none().withWarnAfter(Duration.ofSeconds(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.none().withMetadata(Map.of("", "x")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.none().withMetadata(Map.of("k", "\u00e9".repeat(512))))
                .withMessageContaining("1025 bytes");
        assertThat(LockOptions.none()
                        .withMetadata(Map.of("k", "x".repeat(1023)))
                        .metadata())
                .isPresent();
    }

    @Test
    void codeWinsOverUrlWinsOverDefault() {
        LockUrl url = LockUrl.parse("lock:redis://h?ttl=5s&requestTimeout=3s");
        ClientOptions options = ClientOptions.defaults()
                .withRequestTimeout(Duration.ofSeconds(4))
                .withName("me");
        OpenRequest request = request(url, options);

        assertThat(request.get(CommonOptions.REQUEST_TIMEOUT)).isEqualTo(Duration.ofSeconds(4));
        assertThat(request.get(CommonOptions.TTL)).isEqualTo(Duration.ofSeconds(5));
        assertThat(request.get(CommonOptions.CLOSE_TIMEOUT)).isEqualTo(Duration.ofSeconds(5));
        assertThat(request.clientName()).isEqualTo("me");
        assertThat(request.find(Option.text("table"))).isEmpty();
        assertThatThrownBy(() -> request.get(Option.text("table")))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("option table is needed");
    }

    private static OpenRequest request(LockUrl url, ClientOptions options) {
        return new OpenRequest(url, options, OptionsTest.class.getClassLoader(), new SystemTime("unused"));
    }

    @Test
    void clientOptionsAreTypedAndMasked() {
        Option<Runnable> source = Option.object("dataSource", Runnable.class);
        Option<String> password = Option.text("password");
        Runnable value = () -> {};
        ClientOptions options = ClientOptions.defaults().with(source, value).with(password, "s3cr3t");

        assertThat(options.get(source)).containsSame(value);
        assertThat(options.get(Option.text("other"))).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.get(Option.text("dataSource")))
                .withMessageContaining("takes a java.lang.String");
        assertThat(options.toString())
                .contains("dataSource=Runnable, password=***")
                .doesNotContain("s3cr3t");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClientOptions.defaults().withRequestTimeout(Duration.ZERO))
                .withMessageContaining("option requestTimeout");
    }

    @Test
    void unknownClientOptionNamesTheNearest() {
        ClientOptions options = ClientOptions.defaults().with(Option.text("tabel"), "x");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.check(List.of(Option.text("table"), CommonOptions.TTL)))
                .withMessageContaining("did you mean table? Known are table, ttl.");
    }

    @Test
    void capacityIsAskedAtEachAttempt() {
        AtomicInteger machines = new AtomicInteger(3);
        Capacity capacity = Capacity.perResource(4, machines::get);

        assertThat(capacity.current()).isEqualTo(12);
        machines.set(0);
        assertThat(capacity.current()).isZero();
        machines.set(Integer.MAX_VALUE);
        assertThat(capacity.current()).isEqualTo(Integer.MAX_VALUE);
        machines.set(-1);
        assertThatIllegalStateException().isThrownBy(capacity::current);
        assertThat(capacity.limit()).isEqualTo(4);
        assertThat(Capacity.of(7).current()).isEqualTo(7);
        assertThat(Capacity.of(7).limit()).as("one resource has them all").isEqualTo(7);
        assertThatIllegalArgumentException().isThrownBy(() -> Capacity.of(0));
    }
}
