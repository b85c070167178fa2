// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The checks of trees, on clients that have one defect each. */
class TreeMutantsTest {
    private static final List<String> RULES =
            IntStream.rangeClosed(2001, 2006).mapToObj(rule -> "LK-" + rule).toList();

    @TempDir
    private Path directory;

    @Test
    void theGoodOnePasses() throws Exception {
        TckResult result = run(CarelessTrees.Defect.NONE, RULES);
        assertThat(result.with(Verdict.FAIL)).isEmpty();
        assertThat(result.with(Verdict.PASS)).hasSizeGreaterThan(8);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachDefectIsFound(CarelessTrees.Defect defect) throws Exception {
        assertThat(run(defect, List.of(defect.rule)).with(Verdict.FAIL))
                .anySatisfy(check -> assertThat(check.rules()).contains(defect.rule));
    }

    private TckResult run(CarelessTrees.Defect defect, List<String> rules) throws Exception {
        Path services = Files.createDirectories(directory.resolve("META-INF/services"));
        Files.writeString(services.resolve(LockProvider.class.getName()), CarelessTrees.class.getName());
        String world = defect.name().toLowerCase(Locale.ROOT).replace('_', '-');
        try (URLClassLoader loader = new URLClassLoader(
                        new URL[] {directory.toUri().toURL()}, getClass().getClassLoader());
                LockClient keeper = Locks.open("lock:native:mem://" + world + "?clock=manual&maxTtl=15s")) {
            MemoryWorld time = keeper.unwrap(MemoryWorld.class);
            TckSubject subject = TckSubject.of("lock:careless://" + world + "?clock=manual&maxTtl=15s")
                    .withLoader(loader)
                    .withAdvance(time::advance);
            return TckRunner.run(
                    subject,
                    TckConfig.of(Profile.QUICK)
                            .withOnly(rules)
                            .withCheckLimit(
                                    Patience.of(Duration.ofSeconds(defect == CarelessTrees.Defect.NONE ? 60 : 2))));
        }
    }
}
