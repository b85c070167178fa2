// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.spi.RuleBook;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The specification is well-formed, and nobody refers to a rule that does not exist. */
class RulesTest {
    private static final Pattern REFERENCE = Pattern.compile("LK-(\\d+)");
    private static final Set<String> NOT_OURS = Set.of("target", ".git");

    private final List<RuleBook.Rule> rules = RuleBook.read().rules();

    private static int number(RuleBook.Rule rule) {
        return Integer.parseInt(rule.id().substring("LK-".length()));
    }

    @Test
    void idsAscendWithinTheirGroups() {
        assertThat(rules).hasSizeGreaterThan(80);
        assertThat(rules).extracting(RulesTest::number).isSorted().doesNotHaveDuplicates();
        Map<Integer, Set<String>> chapters = new TreeMap<>();
        rules.forEach(rule -> chapters.computeIfAbsent(number(rule) / 100, hundred -> new TreeSet<>())
                .add(rule.chapter()));
        assertThat(chapters.values()).allSatisfy(names -> assertThat(names).hasSize(1));
        assertThat(chapters.values().stream().flatMap(Set::stream)).doesNotHaveDuplicates();
    }

    @Test
    void eachRuleIsOneSentenceWithOneLevel() {
        assertThat(rules).allSatisfy(rule -> {
            assertThat(rule.sentence()).endsWith(".").doesNotContainPattern("\\. [A-Z]");
            assertThat(count(rule.sentence(), "\\b(MUST|SHOULD)\\b"))
                    .as("levels of %s", rule.id())
                    .isEqualTo(1);
        });
    }

    @Test
    void eachRuleHasItsIntent() {
        assertThat(rules)
                .allSatisfy(rule -> assertThat(rule.intent())
                        .as("intent of %s", rule.id())
                        .endsWith(".")
                        .hasSizeGreaterThan(20));
    }

    @Test
    void everyReferenceNamesARule() throws IOException {
        Set<Integer> known = new TreeSet<>(rules.stream().map(RulesTest::number).toList());
        List<String> dangling = new ArrayList<>();
        int[] files = {0};
        Path root = Path.of("").toAbsolutePath().getParent();
        assertThat(root.resolve("lock-api")).isDirectory();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
                return NOT_OURS.contains(dir.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String name = file.toString();
                if (name.endsWith(".java") || name.endsWith(".md")) {
                    files[0]++;
                    Matcher reference = REFERENCE.matcher(Files.readString(file));
                    while (reference.find()) {
                        if (!known.contains(Integer.valueOf(reference.group(1)))) {
                            dangling.add(root.relativize(file) + ": " + reference.group());
                        }
                    }
                }
                return FileVisitResult.CONTINUE;
            }
        });

        assertThat(files[0]).isGreaterThan(50);
        assertThat(dangling).isEmpty();
    }

    private static int count(String text, String pattern) {
        return (int) Pattern.compile(pattern).matcher(text).results().count();
    }
}
