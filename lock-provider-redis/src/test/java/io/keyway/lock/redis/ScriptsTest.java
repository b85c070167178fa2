// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Scripts touch no key that is not declared: a cluster, and what stands before it, cannot tell where to run them
 * otherwise.
 */
class ScriptsTest {

    private static final Path SCRIPTS = Path.of("src/main/resources/io/keyway/lock/redis");
    private static final Pattern CALL = Pattern.compile("redis\\.call\\('(\\w+)'(?:, ([^,)]+))?");
    private static final Pattern FUNCTION_KEYS = Pattern.compile("keep\\(([^,)]+)");
    private static final Set<String> DECLARED = Set.of("holders", "waiters", "queue", "key", "floor");

    @Test
    void scriptsTouchWhatIsDeclaredAlone() throws IOException {
        List<String> wrong = new ArrayList<>();
        int calls = 0;
        for (Path script : scripts()) {
            String text = Files.readString(script);
            Matcher call = CALL.matcher(text);
            while (call.find()) {
                calls++;
                String command = call.group(1);
                if (!command.equals("TIME") && !command.equals("PUBLISH") && !isDeclared(call.group(2))) {
                    wrong.add(script.getFileName() + ": " + call.group());
                }
            }
            Matcher function = FUNCTION_KEYS.matcher(text);
            while (function.find()) {
                if (!isDeclared(function.group(1))) {
                    wrong.add(script.getFileName() + ": " + function.group());
                }
            }
        }
        assertThat(calls).isGreaterThan(50);
        assertThat(wrong).isEmpty();
    }

    @Test
    void scriptsBeginWithAComment() throws IOException {
        for (Path script : scripts()) {
            assertThat(Files.readString(script)).as(script.toString()).startsWith("-- ");
        }
    }

    private static boolean isDeclared(String key) {
        return DECLARED.contains(key) || key.matches("KEYS\\[\\d]");
    }

    private static List<Path> scripts() throws IOException {
        try (Stream<Path> files = Files.list(SCRIPTS)) {
            return files.filter(file -> file.toString().endsWith(".lua")).toList();
        }
    }
}
