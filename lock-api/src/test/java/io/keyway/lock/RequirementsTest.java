// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequirementsTest {
    private static final Guarantees PROMISED = new Guarantees(
            new Guarantee(Grade.ALWAYS, "while the server lives"),
            new Guarantee(Grade.TIMED, ""),
            new Guarantee(Grade.TIMED, "with an epoch file"),
            new Guarantee(Grade.NO, ""),
            Duration.ofSeconds(1),
            Duration.ofMinutes(1));

    @Test
    void parsesFeaturesAndGrades() {
        Requirements required = Requirements.parse("fencing,read-write,tokens:always,belief:timed");

        assertThat(required.features()).containsExactly(Feature.READ_WRITE, Feature.FENCING);
        assertThat(required.grades()).isEqualTo(Map.of("tokens", Grade.ALWAYS, "belief", Grade.TIMED));
        assertThat(Requirements.parse(required.toString())).isEqualTo(required);
    }

    @Test
    void saysWhatIsMissing() {
        Requirements required =
                Requirements.parse("fencing,fifo,exclusion:always,belief:always,tokens:timed,failover:timed");

        assertThat(required.missing(Set.of(Feature.FENCING), PROMISED))
                .containsExactly(
                        "fifo", "belief:always (it promises belief:timed)", "failover:timed (it promises failover:no)");
        assertThat(Requirements.parse("tokens:always").missing(Set.of(), PROMISED))
                .containsExactly("tokens:always (it promises tokens:timed, with an epoch file)");
        assertThat(Requirements.NONE.missing(Set.of(), PROMISED)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Feature.class)
    void everyFeatureCanBeRequired(Feature feature) {
        assertThat(Requirements.parse(feature.label()).features()).containsExactly(feature);
        assertThat(feature.label()).matches("[a-z-]+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fencing,", "FENCING", "read_write", "tokens:", "tokens", ":always", "tokens:always:x"})
    void unknownWordsNameTheNearest(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Requirements.parse(text))
                .withMessageContaining("did you mean");
    }

    @Test
    void theOptionSaysOnceWhatIsNotKnown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CommonOptions.REQUIRE.parse("readwrite"))
                .withMessageStartingWith(
                        "option require: \"readwrite\" is not known; did you mean read-write? Known are ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CommonOptions.REQUIRE.parse("fencing,readwrite"))
                .withMessageStartingWith("option require: \"fencing,readwrite\" is not known at \"readwrite\";"
                        + " did you mean read-write?");
    }

    @Test
    void promisesHaveKnownNames() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Requirements(Set.of(), Map.of("speed", Grade.ALWAYS)));
    }

    @Test
    void boundsOfTtlAreInOrder() {
        Guarantee any = new Guarantee(Grade.NO, "");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Guarantees(any, any, any, any, Duration.ofSeconds(2), Duration.ofSeconds(1)));
        assertThat(List.of(Grade.values())).containsExactly(Grade.ALWAYS, Grade.TIMED, Grade.NO);
    }
}
