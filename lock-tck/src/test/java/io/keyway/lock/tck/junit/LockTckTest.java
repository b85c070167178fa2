// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.command.OddProviders;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

class LockTckTest {
    @TempDir
    Path directory;

    private static LockTck kit(TckSubject subject, TckConfig config) {
        return new LockTck() {
            @Override
            protected TckSubject subject() {
                return subject;
            }

            @Override
            protected TckConfig config() {
                return config;
            }
        };
    }

    private static Map<String, DynamicTest> tests(LockTck kit) throws Exception {
        return kit.rules().stream()
                .flatMap(node -> ((DynamicContainer) node).getChildren())
                .map(DynamicTest.class::cast)
                .collect(Collectors.toMap(DynamicTest::getDisplayName, Function.identity()));
    }

    @Test
    void eachCheckOfAGoodProviderIsATestThatPassesOrIsAborted() throws Exception {
        TckConfig config = TckConfig.of(Profile.SMOKE)
                .withOnly(List.of("LK-301", "LK-313"))
                .withExcluded(Map.of("LK-313", "a bug (#1)"));
        Map<String, DynamicTest> tests = tests(kit(TckSubject.of("lock:reference://junit"), config));
        assertThat(tests).hasSameSizeAs(TckRunner.planned(config));
        assertThatCode(tests.get("LK-301 a second client is refused while the first holds")
                        .getExecutable()::execute)
                .doesNotThrowAnyException();
        assertThatThrownBy(
                        tests.get("LK-313 the holder itself waits as any other").getExecutable()::execute)
                .isInstanceOf(TestAbortedException.class)
                .hasMessageContaining("excluded: LK-313: a bug (#1)");
        assertThat(Path.of(
                        "target",
                        "tck-report",
                        kit(TckSubject.of("x"), config).getClass().getName(),
                        "report.html"))
                .exists();
    }

    @Test
    void aFailureSaysWhatToLookAtAndShowsTheHistory() throws Exception {
        URL jar = OddProviders.thatGrantsToEverybody(directory).toUri().toURL();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {jar}, getClass().getClassLoader())) {
            Map<String, DynamicTest> tests = tests(kit(
                    TckSubject.of("lock:odd://x").withLoader(loader),
                    TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-301/a-second"))));
            assertThatThrownBy(tests.values().iterator().next().getExecutable()::execute)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("LK-301")
                    .hasMessageContaining("look first: Does an attempt look")
                    .hasMessageContaining("seed 1");
        }
    }

    @Test
    void aUrlThatDoesNotOpenFailsTheClass() {
        assertThatThrownBy(() -> tests(kit(TckSubject.of("lock:nix://h"), TckConfig.of(Profile.SMOKE))))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("lock:nix");
    }

    @Test
    void aSubclassCanOverrideNoCheck() {
        List<Method> factories = Arrays.stream(LockTck.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(TestFactory.class))
                .toList();
        assertThat(factories).hasSize(1).allMatch(method -> Modifier.isFinal(method.getModifiers()));
    }
}
