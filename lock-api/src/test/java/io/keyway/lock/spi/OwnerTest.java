// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnerTest {
    @Test
    void anOwnerComesBackFromItsText() {
        Owner plain = new Owner("billing@7", Map.of());
        Owner full =
                new Owner("5:x", Map.of("command", "", "", "a:b\n3:c", "k\u00e9\uD83D\uDE00", "3:", "at", "\u0000"));
        assertThat(Owner.parse(plain.text())).isEqualTo(plain);
        assertThat(Owner.parse(full.text())).isEqualTo(full);
        assertThat(new Owner("", Map.of()).text()).isNotEmpty();
    }

    @Test
    void theTextIsTheSameWhateverTheOrderOfTheMetadata() {
        assertThat(new Owner("c", Map.of("b", "2", "a", "1")).text()).isEqualTo("1:c1:a1:11:b1:2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "somebody", "9:x", "1:ab", "-1:a", ":a", "1:a1:b", "99999999999:a", "1:a-3:b"})
    void whatIsNoneIsTheNameOfAClient(String text) {
        assertThat(Owner.parse(text)).isEqualTo(new Owner(text, Map.of()));
    }
}
