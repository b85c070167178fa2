// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IncarnationTest {

    @Test
    void drawsDistinctOnes() {
        assertThat(Stream.generate(Incarnation::draw).limit(1000)).doesNotHaveDuplicates();
    }

    @Test
    void textLeadsBack() {
        Incarnation small = new Incarnation(0, 0x1fL);

        assertThat(small).hasToString("0000000000000000000000000000001f");
        assertThat(Incarnation.of(small.toString())).isEqualTo(small);
        Incarnation drawn = Incarnation.draw();
        assertThat(Incarnation.of(drawn.toString())).isEqualTo(drawn);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1f",
                "0000000000000000000000000000001F",
                "+000000000000000000000000000001f",
                "0000000000000000000000000000001g"
            })
    void refusesOtherText(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Incarnation.of(text))
                .withMessageContaining("32 lower-case hex digits");
    }
}
