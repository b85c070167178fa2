// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "orders/7",
                "..",
                "./.",
                "a b",
                " ",
                "%2F",
                "\u00e9\u4e2d\ud83d\ude00",
                "zookeeper",
                "A",
                "a\\b:c*?\"<>|",
                "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16"
            })
    void takes(String text) {
        LockName name = LockName.of(text);

        assertThat(name.value()).isEqualTo(text);
        assertThat(name).hasToString(text).isEqualTo(LockName.of(text));
        assertThat(String.join("/", name.segments())).isEqualTo(text);
        assertThat(name.escaped()).matches("[A-Za-z0-9_%/-][A-Za-z0-9_%/.-]*");
        assertThat(LockName.unescape(name.escaped())).isEqualTo(name);
    }

    @Test
    void refusesAndSaysWhatAndWhere() {
        refused("", "is empty");
        refused("/a", "starts with /");
        refused("a/", "ends with /");
        refused("/", "starts with /");
        refused("a//b", "empty segment at index 2");
        refused("a\u0000b", "control character U+0000 at index 1");
        refused("a\nb", "control character U+000A at index 1");
        refused("a\u007f", "control character U+007F at index 1");
        refused("a\u0085", "control character U+0085 at index 1");
        refused("ab\ud800", "unpaired surrogate U+D800 at index 2");
        refused("\udc00a", "unpaired surrogate U+DC00 at index 0");
        refused("\udc00\ud800", "unpaired surrogate U+DC00 at index 0");
        refused("1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", "17 segments, more than 16");
        refused("x".repeat(513), "513 bytes long in UTF-8, more than 512");
        refused("\u00e9".repeat(257), "514 bytes long");
        refused("\u4e2d".repeat(171), "513 bytes long");
        refused("\ud83d\ude00".repeat(129), "516 bytes long");
        assertThatThrownBy(() -> LockName.of(null)).isInstanceOf(NullPointerException.class);
    }

    private static void refused(String text, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockName.of(text))
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n").hasSizeLessThan(400));
    }

    @Test
    void takesExactlyTheLimits() {
        assertThatCode(() -> LockName.of("x".repeat(512))).doesNotThrowAnyException();
        assertThat(LockName.of("\ud83d\ude00".repeat(128)).bytes()).isEqualTo(512);
        assertThat(LockName.of(String.join("/", Collections.nCopies(16, "a"))).segments())
                .hasSize(16);
    }

    @Test
    void comparesExactly() {
        assertThat(LockName.of("a")).isNotEqualTo(LockName.of("A")).isNotEqualTo(LockName.of("a "));
        assertThat(LockName.of("\u00e9")).isNotEqualTo(LockName.of("e\u0301"));
        assertThat(LockName.of("a")).isLessThan(LockName.of("b"));
    }

    @Test
    void escapesAreDistinctAndLeadBack() {
        Random random = new Random(7);
        String alphabet = "aA./%2F-_ \u00e9\ud83d\ude00e";
        Map<String, LockName> seen = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int n = 1 + random.nextInt(5); n > 0; n--) {
                int index = random.nextInt(alphabet.length());
                text.append(alphabet.charAt(index));
            }
            LockName name;
            try {
                name = LockName.of(text.toString());
            } catch (IllegalArgumentException e) {
                continue;
            }
            LockName other = seen.putIfAbsent(name.escaped(), name);
            if ((other != null && !other.equals(name))
                    || !LockName.unescape(name.escaped()).equals(name)) {
                assertThat(name).isEqualTo(other).isEqualTo(LockName.unescape(name.escaped()));
            }
        }
        assertThat(seen).hasSizeGreaterThan(1000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "%2", "%zz", "a b", ".", "%61", "%2f", "\u00e9", "%FF", "%2F", ""})
    void refusesWhatIsNoEscapedForm(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> LockName.unescape(text));
    }

    @Test
    void escapedFormOfHardNames() {
        assertThat(LockName.of("../a.b/.c d").escaped()).isEqualTo("%2E./a.b/%2Ec%20d");
        assertThat(LockName.of("\u00e9").escaped()).isEqualTo("%C3%A9");
    }

    @Test
    void aFlatKeyIsOneWordAndLeadsBack() {
        LockKey key = LockKey.semaphore("jobs/nacht,lauf:1/.x");
        assertThat(key.flat()).matches("[A-Za-z0-9%_.,-]+:SEMAPHORE");
        assertThat(LockKey.unflat(key.flat())).isEqualTo(key);
        assertThat(LockKey.lock("jobs/nightly").flat())
                .doesNotStartWith(LockKey.lock("jobs").flat())
                .isNotEqualTo(LockKey.semaphore("jobs/nightly").flat());
        for (String prefix : List.of("", "j", "jobs", "jobs/", "jobs/n", "käse/.h")) {
            for (String name : List.of("jobs", "jobs/nightly", "jobs2", "j", "käse/.hidden", "käse/h")) {
                assertThat(LockKey.lock(name).flat().startsWith(LockKey.flatPrefix(prefix)))
                        .as("%s under %s", name, prefix)
                        .isEqualTo(name.startsWith(prefix));
            }
        }
        for (String wrong : new String[] {"jobs", "jobs:", "jobs/nightly:LOCK", "jobs:lock", ":LOCK"}) {
            assertThatThrownBy(() -> LockKey.unflat(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
