// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The specification is well-formed, and nobody refers to a rule that does not exist. */
class RulesTest {
    private static final Pattern RULE = Pattern.compile("\\*\\*LK-(\\d+)\\*\\* (.+)");
    private static final Pattern REFERENCE = Pattern.compile("LK-(\\d+)");
    private static final Pattern GROUP = Pattern.compile("## (\\d+)00 .+");
    private static final Set<String> NOT_OURS = Set.of("target", ".git");

    record Rule(int group, int id, String sentence, String intent) {}

    private final List<Rule> rules = rules();

    @Test
    void idsAscendWithinTheirGroups() {
        assertThat(rules).hasSizeGreaterThan(80);
        assertThat(rules).extracting(Rule::id).isSorted().doesNotHaveDuplicates();
        assertThat(rules).allSatisfy(rule -> assertThat(rule.id() / 100).isEqualTo(rule.group()));
    }

    @Test
    void eachRuleIsOneSentenceWithOneLevel() {
        assertThat(rules).allSatisfy(rule -> {
            assertThat(rule.sentence()).endsWith(".").doesNotContainPattern("\\. [A-Z]");
            assertThat(count(rule.sentence(), "\\b(MUST|SHOULD)\\b"))
                    .as("levels of LK-%d", rule.id())
                    .isEqualTo(1);
        });
    }

    @Test
    void eachRuleHasItsIntent() {
        assertThat(rules)
                .allSatisfy(rule -> assertThat(rule.intent())
                        .as("intent of LK-%d", rule.id())
                        .startsWith("*Intent:* ")
                        .endsWith(".")
                        .hasSizeGreaterThan(30));
    }

    @Test
    void everyReferenceNamesARule() throws IOException {
        Set<Integer> known = new TreeSet<>(rules.stream().map(Rule::id).toList());
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

    private static List<Rule> rules() {
        List<Rule> rules = new ArrayList<>();
        List<String> lines = read().lines().toList();
        int group = 0;
        for (int i = 0; i < lines.size(); i++) {
            Matcher heading = GROUP.matcher(lines.get(i));
            Matcher rule = RULE.matcher(lines.get(i));
            if (heading.matches()) {
                group = Integer.parseInt(heading.group(1));
            } else if (rule.matches()) {
                rules.add(new Rule(group, Integer.parseInt(rule.group(1)), rule.group(2), lines.get(i + 1)));
            } else {
                assertThat(lines.get(i)).doesNotStartWith("**LK");
            }
        }
        return rules;
    }

    private static String read() {
        try (InputStream in = LockClient.class.getResourceAsStream("rules.md")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
