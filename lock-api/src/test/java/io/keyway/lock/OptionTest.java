// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionTest {
    private static final Option<Duration> LEASE = Option.duration("lease", Duration.ofMillis(100), Duration.ofHours(24))
            .withDefault(Duration.ofSeconds(10))
            .withDescription("how long");

    @Test
    void describesItself() {
        assertThat(LEASE.name()).isEqualTo("lease");
        assertThat(LEASE.type()).isEqualTo(Duration.class);
        assertThat(LEASE.defaultValue()).contains(Duration.ofSeconds(10));
        assertThat(LEASE.defaultText()).isEqualTo("10s");
        assertThat(LEASE.bounds()).isEqualTo("100ms to 24h");
        assertThat(LEASE.unit()).isEqualTo("ms, s, m or h");
        assertThat(LEASE.description()).isEqualTo("how long");
        assertThat(LEASE.inUrl()).isTrue();
        assertThat(LEASE.secret()).isFalse();
        assertThat(Option.choice("unit", TimeUnit.class).bounds()).startsWith("nanoseconds, microseconds");
        assertThat(Option.text("password").secret()).isTrue();
        assertThat(Option.object("dataSource", Runnable.class).inUrl()).isFalse();
        assertThat(Option.text("x").defaultValue()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"100ms,100", "250ms,250", "10s,10000", "5m,300000", "24h,86400000", "007s,7000"})
    void durationsCarryAUnit(String text, long millis) {
        assertThat(LEASE.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(longs = {100, 250, 1000, 1500, 60_000, 90_000, 3_600_000, 86_400_000})
    void formattedDurationsParseToThemselves(long millis) {
        Duration duration = Duration.ofMillis(millis);

        assertThat(LEASE.parse(LEASE.format(duration))).isEqualTo(duration);
    }

    @Test
    void everyErrorNamesTheOption() {
        for (String bad : List.of("", "10", "s", "10 s", "99ms", "25h", "1d", "\u0661s", "10sec")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LEASE.parse(bad))
                    .withMessageContaining("option lease: \"" + bad + "\" is ");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LEASE.check(Duration.ofDays(2)))
                .withMessage("option lease: \"48h\" is outside 100ms to 24h");
    }

    @Test
    void defaultsObeyTheBounds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.number("size", 1, 10).withDefault(11))
                .withMessageContaining("option size: \"11\" is outside 1 to 10");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1a", "a b", "a=b", "a&b", "\u00e9", "a:b"})
    void namesAreSimple(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> Option.text(name));
    }

    @Test
    void numbersAndFlagsAreStrict() {
        Option<Integer> size = Option.number("size", -5, 10);

        assertThat(size.parse("-5")).isEqualTo(-5);
        assertThat(size.parse("010")).isEqualTo(10);
        for (String bad : List.of("+5", "1e3", "0x1", "", " 1", "\u0661", "2147483648")) {
            assertThatIllegalArgumentException().isThrownBy(() -> size.parse(bad));
        }
        Option<Long> large = Option.largeNumber("floor", 1, 1L << 62);
        assertThat(large.parse("4611686018427387904")).isEqualTo(1L << 62);
        for (String bad : List.of("0", "-1", "4611686018427387905", "9223372036854775808", "4e17", "")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> large.parse(bad))
                    .withMessageContaining("option floor: \"" + bad + "\" is ");
        }
        assertThat(Option.flag("on").parse("true")).isTrue();
        assertThat(Option.flag("on").parse("false")).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> Option.flag("on").parse("TRUE"));
    }

    @Test
    void textsOfOwnSyntaxAreCheckedInCodeToo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClientOptions.defaults().withName(" "))
                .withMessageContaining("option name: \" \" is not a client name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ClientOptions.defaults().withName("x".repeat(201)));
    }

    @Test
    void commonOptionsAreDescribed() {
        assertThat(CommonOptions.ALL).extracting(Option::name).doesNotHaveDuplicates();
        assertThat(CommonOptions.ALL).allSatisfy(option -> {
            assertThat(option.description()).isNotEmpty();
            assertThat(option.defaultValue()).isPresent();
            assertThat(option.inUrl()).isTrue();
            assertThat(option.secret()).isFalse();
        });
        assertThat(CommonOptions.TTL.defaultText()).isEqualTo("10s");
        assertThat(CommonOptions.REQUEST_TIMEOUT.defaultText()).isEqualTo("2s");
        assertThat(CommonOptions.CONNECT_TIMEOUT.defaultText()).isEqualTo("5s");
        assertThat(CommonOptions.CLOSE_TIMEOUT.defaultText()).isEqualTo("5s");
        assertThat(CommonOptions.CONNECT.defaultText()).isEqualTo("lazy");
        assertThat(CommonOptions.NAME.defaultValue().orElseThrow())
                .matches(".+@.+:" + ProcessHandle.current().pid());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password",
                "PASSWD",
                "db-pwd",
                "secretFile",
                "accessToken",
                "api_key",
                "apiKey",
                "AccessKey",
                "privateKey",
                "credentials",
                "passphrase"
            })
    void namesThatLookSecretAre(String name) {
        assertThat(Secrets.isSecret(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ttl", "name", "user", "keyspace", "require", "host", "tlsKey", "tokenFloor"})
    void otherNamesAreNot(String name) {
        assertThat(Secrets.isSecret(name)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"tll,ttl", "TTL,ttl", "lazzy,lazy", "conect,connect", "tokn,tokens", "sceure,secure"})
    void nearestIsWhatWasMeant(String word, String meant) {
        assertThat(Suggestion.of(word, List.of("connect", "lazy", "tokens", "ttl", "secure", "closeTimeout")))
                .isEqualTo(meant);
        assertThat(Suggestion.distance(meant, meant)).isZero();
        assertThat(Suggestion.distance("abcd", "abdc")).isEqualTo(1);
        assertThat(Suggestion.distance("", "abc")).isEqualTo(3);
    }
}
