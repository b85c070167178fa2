// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The provider author's guide shows this provider, each file whole. */
class GuideTest {

    private static final Pattern PART =
            Pattern.compile("\n\\*\\*`([^`]+)`\\*\\*\n\n```[a-z]*\n(.*?)\n```\n", Pattern.DOTALL);

    @Test
    void thePartsOfTheGuideMakeUpTheFiles() throws IOException {
        Map<String, List<String>> parts = new LinkedHashMap<>();
        Matcher part = PART.matcher(Files.readString(Path.of("../../docs/writing-a-provider.md")));
        while (part.find()) {
            parts.computeIfAbsent(part.group(1), file -> new ArrayList<>()).add(part.group(2));
        }
        for (Map.Entry<String, List<String>> file : parts.entrySet()) {
            Path ours = Path.of(file.getKey().equals("pom.xml") ? "guide/pom.xml" : file.getKey());
            assertThat(String.join("\n\n", file.getValue()) + "\n")
                    .as(file.getKey())
                    .isEqualTo(Files.readString(ours).replaceFirst("^// Copyright.*\n", ""));
        }
        assertThat(parts.keySet()).contains("pom.xml", "src/test/java/io/keyway/examples/files/FilesTckTest.java");
        try (Stream<Path> main = Files.walk(Path.of("src/main"))) {
            assertThat(main.filter(Files::isRegularFile).map(Path::toString))
                    .as("what the house asks for and others need not")
                    .allMatch(file -> parts.containsKey(file) || file.endsWith("package-info.java"));
        }
    }
}
