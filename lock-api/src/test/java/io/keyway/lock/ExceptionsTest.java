// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each kind answers its questions: may I retry, may I still hold it? */
class ExceptionsTest {
    private static final LockName NAME = LockName.of("orders/7");
    private static final LeaseLoss LOSS =
            new LeaseLoss(LeaseLoss.Cause.EXPIRED, Duration.ofMillis(1500), Optional.of("a:1"), "no answer since then");

    record Case(LockException exception, boolean retryable, boolean mayHold) {}

    static Stream<Case> cases() {
        return Stream.of(
                new Case(new LeaseLostException(NAME, 7, LOSS), true, false),
                new Case(new OutcomeUnknownException("?", NAME, "a:1", null), true, true),
                new Case(new LockUnavailableException("?", NAME, "a:1", null), true, false),
                new Case(new UnsupportedFeatureException(Feature.FIFO, "redis"), false, false),
                new Case(new InvalidLockUrlException("?"), false, false),
                new Case(new ProviderNotFoundException("?", null), false, false),
                new Case(new DeadlockException("?", NAME), true, false),
                new Case(new ClientClosedException("me", NAME), false, false));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void answers(Case kind) throws Exception {
        assertThat(kind.exception().retryable()).isEqualTo(kind.retryable());
        assertThat(kind.exception().mayHold()).isEqualTo(kind.mayHold());

        LockException copy = copy(kind.exception());
        assertThat(copy)
                .hasSameClassAs(kind.exception())
                .hasMessage(kind.exception().getMessage());
        assertThat(copy.retryable()).isEqualTo(kind.retryable());
        assertThat(copy.mayHold()).isEqualTo(kind.mayHold());
        assertThat(copy.server()).isEqualTo(kind.exception().server());
    }

    @Test
    void allKindsAreTested() {
        assertThat(cases().map(kind -> kind.exception().getClass()))
                .doesNotHaveDuplicates()
                .hasSize(8);
    }

    @Test
    void lossSaysWhichGrantAndWhy() {
        LeaseLostException e = new LeaseLostException(NAME, 7, LOSS);

        assertThat(e)
                .hasMessage("The lease of orders/7 with token 7 was lost (EXPIRED after 1500 ms): no answer since then."
                        + " Stop the work that it protected; acquire again for a new token.");
        assertThat(e.name()).contains(NAME);
        assertThat(e.server()).contains("a:1");
        assertThat(e.token()).isEqualTo(7);
        assertThat(e.loss()).isEqualTo(LOSS);
    }

    @Test
    void lossSurvivesSerialisationAsFarAsItCan() throws Exception {
        LeaseLostException copy = copy(new LeaseLostException(NAME, 7, LOSS));

        assertThat(copy.token()).isEqualTo(7);
        assertThat(copy.loss().cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThat(copy.loss().server()).contains("a:1");
    }

    @Test
    void unsupportedFeatureIsNamed() {
        UnsupportedFeatureException e =
                new UnsupportedFeatureException(Feature.READ_WRITE, "The provider of lock:x://");

        assertThat(e).hasMessageStartingWith("The provider of lock:x:// does not offer read-write");
        assertThat(e.feature()).contains(Feature.READ_WRITE);
        assertThat(UnsupportedFeatureException.required("no").feature()).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private static <T> T copy(T object) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (T) in.readObject();
        }
    }
}
