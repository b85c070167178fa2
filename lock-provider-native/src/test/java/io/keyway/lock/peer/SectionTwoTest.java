// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.kit.SectionTwoProgram;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program that is written against section 2 of the design alone, without a change; and opening with {@code
 * connect=eager}.
 */
class SectionTwoTest {
    @TempDir
    Path directory;

    private static void assertSaid(List<String> said) {
        assertThat(said)
                .contains(
                        "providers: true",
                        "billing-7 true true PT0.1S",
                        "a/b RELEASED RELEASED",
                        "ran true",
                        "rw SHARED SHARED",
                        "rw EXCLUSIVE",
                        "pool 1 2 true 4",
                        "lock broken billing-7 true BROKEN",
                        "locked",
                        "guarded",
                        "LOCK shown false 1",
                        "functions true true false",
                        "closed CLIENT_CLOSED LOST ALREADY_LOST",
                        "lost CLIENT_CLOSED false",
                        "closed client false")
                .as("nothing is refused by its factory")
                .doesNotContain("refused false false true", "upgrade false", "downgrade false");
    }

    @Test
    void runsInOneJvm() throws Exception {
        assertSaid(SectionTwoProgram.run("lock:native:mem://section-two"));
    }

    @Test
    void runsOnOneMachine() throws Exception {
        assertSaid(SectionTwoProgram.run("lock:native:local://" + directory.resolve("locks")));
    }

    @Test
    void openingEagerlyConnects() throws Exception {
        String eager = "lock:native:local://" + directory.resolve("locks") + "?connect=eager";
        try (LockClient host = Locks.open(eager);
                LockClient client = Locks.open(eager + "&host=none")) {
            assertThat(client.lock("a").tryAcquire()).isPresent();
        }
        try (LockClient client = Locks.open("lock:native:mem://eager?clock=manual&connect=eager")) {
            assertThat(client.lock("a").tryAcquire()).isPresent();
        }
    }

    @Test
    void openingEagerlyFailsWhenNobodyAnswers() {
        Path locks = directory.resolve("locks");
        String url = "lock:native:local://" + locks + "?connect=eager&connectTimeout=300ms&host=none&name=unanswered";
        assertThatThrownBy(() -> Locks.open(url)).isInstanceOfSatisfying(LockUnavailableException.class, e -> {
            assertThat(e).hasMessageContaining(locks.toString()).hasMessageContaining("300ms");
            assertThat(e.server())
                    .hasValueSatisfying(server -> assertThat(server).contains(locks.toString()));
        });
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("keyway-unanswered"));
    }
}
