// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockUrl.Host;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockUrlTest {

    @Test
    void splitsAllParts() {
        LockUrl url = LockUrl.parse("lock:redis:sentinel://bob:pw@a:26379,b,[::1]:7/main/0?ttl=5s&tls=true");

        assertThat(url.provider()).isEqualTo("redis");
        assertThat(url.protocol()).contains("sentinel");
        assertThat(url.user()).contains("bob");
        assertThat(url.password()).contains("pw");
        assertThat(url.hosts())
                .containsExactly(
                        new Host("a", OptionalInt.of(26379)),
                        new Host("b", OptionalInt.empty()),
                        new Host("::1", OptionalInt.of(7)));
        assertThat(url.hosts()).extracting(Host::toString).containsExactly("a:26379", "b", "[::1]:7");
        assertThat(url.hosts().get(1).portOr(6379)).isEqualTo(6379);
        assertThat(url.path()).contains("/main/0");
        assertThat(url.options()).isEqualTo(Map.of("ttl", "5s", "tls", "true"));
        assertThat(url.option(CommonOptions.TTL)).contains(Duration.ofSeconds(5));
        assertThat(url.option(CommonOptions.NAME)).isEmpty();
        assertThat(url.isOpaque()).isFalse();
        assertThat(url.opaque()).isEmpty();
    }

    @Test
    void takesThePartsThatMayBeMissing() {
        LockUrl local = LockUrl.parse("lock:native:local://");
        assertThat(local.hosts()).isEmpty();
        assertThat(local.path()).isEmpty();
        assertThat(local.options()).isEmpty();

        LockUrl directory = LockUrl.parse("lock:native:local:///srv/locks");
        assertThat(directory.hosts()).isEmpty();
        assertThat(directory.path()).contains("/srv/locks");

        LockUrl mem = LockUrl.parse("lock:native:mem://name?clock=manual");
        assertThat(mem.hosts()).containsExactly(new Host("name", OptionalInt.empty()));
        assertThat(mem.options()).isEqualTo(Map.of("clock", "manual"));

        assertThat(LockUrl.parse("lock:redis://:pw@h").user()).isEmpty();
        assertThat(LockUrl.parse("lock:redis://:pw@h").password()).contains("pw");
        assertThat(LockUrl.parse("lock:redis://bob@h").password()).isEmpty();
        assertThat(LockUrl.parse("lock:redis://bob:@h").password()).contains("");
    }

    @Test
    void splitsFirstAndDecodesOnce() {
        LockUrl url = LockUrl.parse("lock:redis://b%3Ab:p%40%2F%253D+@h%C3%A9/a%2Fb+c?na%6De=x%26y%3Dz%252B+");

        assertThat(url.user()).contains("b:b");
        assertThat(url.password()).contains("p@/%3D+");
        assertThat(url.hosts().get(0).name()).isEqualTo("h\u00e9");
        assertThat(url.path()).contains("/a/b+c");
        assertThat(url.options()).isEqualTo(Map.of("name", "x&y=z%2B+"));
    }

    @Test
    void takesAnAtAmongTheOptions() {
        LockUrl url = LockUrl.parse("lock:redis://h:6379?name=me@here&ttl=5s");

        assertThat(url.options()).containsEntry("name", "me@here");
        assertThat(url).hasToString("lock:redis://h:6379?name=me@here&ttl=5s");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lock:redis://u:s3cr3t@h/0                        | lock:redis://u:***@h/0",
                "lock:redis://:s3cr3t@h                           | lock:redis://:***@h",
                "lock:redis://u:s3%40cr3t@h,i?name=a%40b          | lock:redis://u:***@h,i?name=a%40b",
                "lock:redis://h?password=s3cr3t&ttl=5s            | lock:redis://h?password=***&ttl=5s",
                "lock:redis://h?a=1&authToken=s3cr3t              | lock:redis://h?a=1&authToken=***",
                "lock:redis://h?p%61ssword=s3cr3t;x               | lock:redis://h?p%61ssword=***",
                "lock:redis://h?client_secret=s3cr3t?s3cr3t&b=2   | lock:redis://h?client_secret=***&b=2",
                "lock:redis://u:s3cr3t@h?apiKey=s3cr3t            | lock:redis://u:***@h?apiKey=***",
                "lock:redis://u@h/x                               | lock:redis://u@h/x",
                "lock:jdbc:postgresql://u:s3cr3t@db:5432/app      | lock:jdbc:postgresql://u:***@db:5432/app",
                "lock:jdbc:postgresql://u:s3/cr3t@db/app          | lock:jdbc:postgresql://u:***@db/app",
                "lock:jdbc:postgresql://db:5432/app?user=a&password=s3cr3t&ApplicationName=x@y&lock.ttl=5s"
                        + "| lock:jdbc:postgresql://db:5432/app?user=a&password=***&ApplicationName=x@y&lock.ttl=5s",
                "lock:jdbc:mysql://u:s3cr3t?x@db/app?a=b          | lock:jdbc:mysql://u:***@db/app?a=b",
                "lock:jdbc:mysql://(host=db,password=s3cr3t)/app  | lock:jdbc:mysql://(host=db,password=***)/app",
                "lock:jdbc:h2:mem:x;USER=sa;PASSWORD=s3cr3t;A=b   | lock:jdbc:h2:mem:x;USER=sa;PASSWORD=***;A=b",
                "lock:jdbc:sqlserver://db;password={s3;cr3t};a=b  | lock:jdbc:sqlserver://db;password=***;a=b",
                "lock:jdbc:oracle:thin:scott/s3cr3t@//db:1521/x   | lock:jdbc:oracle:thin:scott/***@//db:1521/x",
                "lock:jdbc:oracle:thin:scott/s3cr3t@db:1521:x     | lock:jdbc:oracle:thin:scott/***@db:1521:x",
                "lock:jdbc:db2://db:50000/x:user=a;password=s3cr3t;| lock:jdbc:db2://db:50000/x:user=a;password=***;",
                "lock:jdbc:db2://db:50000/x:password=s3cr3t;a=b;  | lock:jdbc:db2://db:50000/x:password=***;a=b;",
            })
    void masks(String text, String masked) {
        LockUrl url = LockUrl.parse(text);

        assertThat(url).hasToString(masked);
        assertThat(url.reveal()).isEqualTo(text);
        assertThat(LockUrl.parse(url.reveal())).isEqualTo(url).hasSameHashCodeAs(url);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lock:native:local://",
                "lock:native:local:///srv/locks",
                "lock:native://a:7400,b:7400,c:7400/cluster?member=a:7400",
                "lock:redis:cluster://h:6379",
                "lock:zookeeper://z1:2181,z2:2181/chroot",
                "lock:jdbc:postgresql://db/app?lock.ttl=5s",
                "lock:redis://[fe80::1%25eth0]:6379",
            })
    void revealedTextIsTheSameUrl(String text) {
        LockUrl url = LockUrl.parse(text);

        assertThat(LockUrl.parse(url.reveal())).isEqualTo(url);
        assertThat(url).hasToString(text);
    }

    @Test
    void equalityIsByMeaning() {
        assertThat(LockUrl.parse("lock:redis://h?ttl=5s&tls=true"))
                .isEqualTo(LockUrl.parse("lock:redis://h?tls=true&%74tl=5s"))
                .isNotEqualTo(LockUrl.parse("lock:redis://h?ttl=6s&tls=true"))
                .isNotEqualTo(LockUrl.parse("lock:redis://h/?ttl=5s&tls=true"));
        assertThat(LockUrl.parse("lock:redis://a,b")).isNotEqualTo(LockUrl.parse("lock:redis://b,a"));
    }

    /** Random texts of the characters that matter: either refused as a bad URL, or parsed and round-tripped. */
    @Test
    void anyTextIsRefusedOrRoundTrips() {
        String[] pieces = {
            "lock:",
            "redis",
            "jdbc:",
            "h2:",
            "://",
            ":",
            "/",
            "?",
            "&",
            "=",
            "@",
            "%",
            "%41",
            "%zz",
            ",",
            "[",
            "]",
            "#",
            "+",
            " ",
            ";",
            "lock.ttl",
            "5s",
            "password",
            "a",
            "7",
            "\u00e9",
            "\ud83d\ude00",
            "{",
            "}",
            "\\",
            "\u0000"
        };
        Random random = new Random(20261121);
        int parsed = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "lock:redis://" : "lock:jdbc:h2:");
            for (int n = random.nextInt(12); n > 0; n--) {
                text.append(pieces[random.nextInt(pieces.length)]);
            }
            LockUrl url;
            try {
                url = LockUrl.parse(text.toString());
            } catch (InvalidLockUrlException e) {
                continue;
            }
            parsed++;
            if (!LockUrl.parse(url.reveal()).equals(url)) {
                assertThat(url).isEqualTo(LockUrl.parse(url.reveal()));
            }
        }
        assertThat(parsed).isGreaterThan(1_000);
    }

    /** A password whose special characters were not escaped is refused or masked, whatever they are. */
    @Test
    void noPasswordIsShown() {
        String[] frames = {
            "lock:redis://bob:%s@h:6379/0?ttl=5s",
            "lock:redis://:%s@a,b",
            "lock:redis:sentinel://h?password=%s",
            "lock:redis://h?password=%s&ttl=5s",
            "lock:redis:bob:%s@h",
            "redis://bob:%s@h",
            "lock:jdbc:postgresql://bob:%s@db/app",
            "lock:jdbc:oracle:thin:bob/%s@db:1521:x",
        };
        String specials = "@/?#:%;=,[]+ {}\\";
        Random random = new Random(42);
        for (int i = 0; i < 20_000; i++) {
            String frame = frames[random.nextInt(frames.length)];
            StringBuilder password = new StringBuilder("s3cr3t");
            for (int n = random.nextInt(4); n > 0; n--) {
                password.append(specials.charAt(random.nextInt(specials.length())))
                        .append("s3cr3t");
            }
            String shown;
            try {
                shown = LockUrl.parse(frame.replace("%s", password)).toString();
            } catch (InvalidLockUrlException e) {
                shown = e.getMessage();
            }
            if (shown.contains("s3cr3t")) {
                assertThat(shown).as("%s with %s", frame, password).doesNotContain("s3cr3t");
            }
        }
    }

    @Test
    void missingOptionSaysHowToGiveIt() {
        LockUrl url = LockUrl.parse("lock:redis://u:s3cr3t@h");

        assertThat(url.missing(Option.text("table").withDescription("the table of the locks")))
                .hasMessage("In lock:redis://u:***@h: option table is needed (the table of the locks)");
        assertThat(url.missing(Option.object("dataSource", Runnable.class)))
                .hasMessageContaining("set it in code with ClientOptions.with");
    }

    @Test
    void anOptionOrAPathTakesThePlaceOfTheOneThatIsThere() {
        LockUrl redis = LockUrl.parse("lock:redis://u:p%2F@h:1,i?prefix=a%26:&ttl=2s");
        assertThat(redis.withOption("prefix", "a&:b").reveal())
                .isEqualTo("lock:redis://u:p%2F@h:1,i?prefix=a%26:b&ttl=2s");
        assertThat(redis.withOption("fix", "x").options())
                .containsEntry("prefix", "a&:")
                .containsEntry("fix", "x");
        assertThat(redis.withPath("/a b/c").reveal())
                .isEqualTo("lock:redis://u:p%2F@h:1,i/a%20b/c?prefix=a%26:&ttl=2s");
        assertThat(LockUrl.parse("lock:zookeeper://h/old").withPath("/new").reveal())
                .isEqualTo("lock:zookeeper://h/new");
        assertThat(LockUrl.parse("lock:native:local://")
                        .withPath("/d")
                        .withOption("ttl", "2s")
                        .reveal())
                .isEqualTo("lock:native:local:///d?ttl=2s");
        assertThat(LockUrl.parse("lock:jdbc:postgresql://h/d?lock.table=a&user=u")
                        .withOption("table", "b")
                        .reveal())
                .isEqualTo("lock:jdbc:postgresql://h/d?lock.table=b&user=u");
        assertThat(LockUrl.parse("lock:jdbc:h2:mem:a;MODE=x")
                        .withOption("table", "b")
                        .reveal())
                .isEqualTo("lock:jdbc:h2:mem:a;MODE=x;lock.table=b");
    }

    @Test
    void secretValuesOutsideTheirBoundsAreMasked() {
        Option<Integer> pin = Option.number("pinSecret", 0, 9);

        assertThatThrownBy(() -> LockUrl.parse("lock:redis://h?pinSecret=12345").check(List.of(pin)))
                .hasMessageContaining("option pinSecret: *** is outside 0 to 9")
                .hasMessageNotContaining("12345")
                .hasNoCause();
    }
}
