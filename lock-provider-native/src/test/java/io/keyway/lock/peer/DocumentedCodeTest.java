// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java on the pages for applications is what our tests compile and run. */
class DocumentedCodeTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern BLOCK = Pattern.compile(
            "(?:<!-- compiled and run by the tests: (\\S+), ([^>]+) -->\n)?```java\n(.*?)\n```", Pattern.DOTALL);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "docs/testing.md",
                "docs/applications.md",
                "docs/several-locks.md",
                "docs/elections.md",
                "docs/transactions.md"
            })
    void eachBlockIsARegionOfASource(String page) throws IOException {
        Matcher block = BLOCK.matcher(Files.readString(ROOT.resolve(page)));
        int blocks = 0;
        while (block.find()) {
            assertThat(block.group(1)).as("the source of:\n%s", block.group(3)).isNotNull();
            assertThat(block.group(3)).isEqualTo(region(ROOT.resolve(block.group(1)), block.group(2)));
            blocks++;
        }
        assertThat(blocks).isPositive();
    }

    private static String region(Path source, String name) throws IOException {
        List<String> lines = Files.readAllLines(source);
        int begin = marker(lines, "// " + name + " begins");
        int end = marker(lines, "// " + name + " ends");
        int indent = lines.get(begin).indexOf("//");
        return lines.subList(begin + 1, end).stream()
                .map(line -> line.isEmpty() ? line : line.substring(indent))
                .collect(Collectors.joining("\n"));
    }

    private static int marker(List<String> lines, String marker) {
        List<Integer> found = lines.stream()
                .filter(line -> line.strip().equals(marker))
                .map(lines::indexOf)
                .toList();
        assertThat(found).as(marker).hasSize(1);
        return found.get(0);
    }
}
