// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The bill of materials has no parent, so that nothing but this keeps it in step with the project. */
class BillOfMaterialsTest {
    private static final Pattern OWN_VERSION =
            Pattern.compile("<artifactId>keyway(?:-bom|-parent)?</artifactId>\\s*<version>([^<]+)</version>");

    /** Nobody depends on them. */
    private static final List<String> PROGRAMS_AND_TESTS =
            List.of("lock-cli", "lock-bench", "lock-simulator", "lock-testing", "lock-native-processes");

    @Test
    void itHasTheVersionAndTheLibrariesOfTheProject() throws IOException {
        String project = Files.readString(Path.of("../pom.xml"));
        String bill = Files.readString(Path.of("../keyway-bom/pom.xml"));

        assertThat(all(OWN_VERSION, bill)).hasSize(1).isEqualTo(all(OWN_VERSION, project));
        List<String> libraries = all(Pattern.compile("<module>(lock-[\\w-]+)</module>"), project).stream()
                .filter(module -> !PROGRAMS_AND_TESTS.contains(module))
                .toList();
        assertThat(all(Pattern.compile("<artifactId>(lock-[\\w-]+)</artifactId>"), bill))
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(libraries);
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }
}
