// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpaqueUrlTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lock:jdbc:postgresql://db/app                            | jdbc:postgresql://db/app",
                "lock:jdbc:postgresql://db/app?lock.ttl=5s                | jdbc:postgresql://db/app",
                "lock:jdbc:postgresql://db/app?lock.ttl=5s&a=b            | jdbc:postgresql://db/app?a=b",
                "lock:jdbc:postgresql://db/app?a=b&lock.ttl=5s            | jdbc:postgresql://db/app?a=b",
                "lock:jdbc:postgresql://db/app?a=b&lock.ttl=5s&c=d        | jdbc:postgresql://db/app?a=b&c=d",
                "lock:jdbc:postgresql://db/app?lock.ttl=5s&lock.name=x&c=d| jdbc:postgresql://db/app?c=d",
                "lock:jdbc:h2:mem:x;lock.ttl=5s;MODE=MySQL                | jdbc:h2:mem:x;MODE=MySQL",
                "lock:jdbc:h2:mem:x;MODE=MySQL;lock.ttl=5s                | jdbc:h2:mem:x;MODE=MySQL",
                "lock:jdbc:h2:mem:x;INIT=a\\;lock.ttl=b                   | jdbc:h2:mem:x;INIT=a\\;lock.ttl=b",
                "lock:jdbc:sqlserver://db:1;password={a;lock.ttl=5s};b=c  | "
                        + "jdbc:sqlserver://db:1;password={a;lock.ttl=5s};b=c",
                "lock:jdbc:sqlserver://db:1;lock.ttl=5s                   | jdbc:sqlserver://db:1",
                "lock:jdbc:oracle:thin:@//db:1521/x?lock.ttl=5s           | jdbc:oracle:thin:@//db:1521/x",
                "lock:jdbc:postgresql://db/app?a=%20+%zz&b                | jdbc:postgresql://db/app?a=%20+%zz&b",
                "lock:jdbc:sqlite:/tmp/lock.db                            | jdbc:sqlite:/tmp/lock.db",
                "lock:jdbc:x:y?block.ttl=5s                               | jdbc:x:y?block.ttl=5s",
            })
    void takesOutOurParametersOnly(String text, String opaque) {
        LockUrl url = LockUrl.parse(text);

        assertThat(url.opaque()).contains(opaque);
        assertThat(url.isOpaque()).isTrue();
        assertThat(url.provider()).isEqualTo("jdbc");
        assertThat(url.hosts()).isEmpty();
        assertThat(url.path()).isEmpty();
    }

    @Test
    void decodesOurParametersOnce() {
        LockUrl url = LockUrl.parse("lock:jdbc:h2:mem:x;lock.name=a%3Bb+c%2525;lock.ttl=5s");

        assertThat(url.options()).isEqualTo(Map.of("name", "a;b+c%25", "ttl", "5s"));
        assertThat(url.protocol()).contains("h2");
    }

    @Test
    void keepsSpacesOfTheDriver() {
        assertThat(LockUrl.parse("lock:jdbc:derby:/my data/x;create=true").opaque())
                .contains("jdbc:derby:/my data/x;create=true");
    }
}
