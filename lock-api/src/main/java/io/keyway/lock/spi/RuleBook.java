// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rules of Keyway, as data: what every client and every provider does. Read from {@code rules.md}. */
public final class RuleBook {
    private static final Pattern RULE = Pattern.compile("\\*\\*(LK-\\d+)\\*\\* (.+)");
    private static final Pattern CHAPTER = Pattern.compile("## \\d+ (.+)");
    private static final String INTENT = "*Intent:* ";

    private final List<Rule> rules;

    /**
     * A rule.
     *
     * @param id as {@code LK-301}; never used again for another one
     * @param chapter the heading that it stands under
     * @param must a provider that breaks it is not compatible; else departures are documented
     * @param sentence what is done
     * @param intent why
     */
    public record Rule(String id, String chapter, boolean must, String sentence, String intent) {
        /**
         * Checks that nothing is null.
         *
         * @param id see the record
         * @param chapter see the record
         * @param must see the record
         * @param sentence see the record
         * @param intent see the record
         */
        public Rule {
            Objects.requireNonNull(id, "id");
            Objects.requireNonNull(chapter, "chapter");
            Objects.requireNonNull(sentence, "sentence");
            Objects.requireNonNull(intent, "intent");
        }
    }

    private RuleBook(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /**
     * Reads the rules.
     *
     * @return all rules of this version
     */
    public static RuleBook read() {
        try (InputStream in = LockClient.class.getResourceAsStream("rules.md")) {
            return parse(new String(Objects.requireNonNull(in, "rules.md").readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static RuleBook parse(String text) {
        List<Rule> rules = new ArrayList<>();
        List<String> lines = text.lines().toList();
        String chapter = "";
        for (int i = 0; i < lines.size(); i++) {
            Matcher heading = CHAPTER.matcher(lines.get(i));
            Matcher rule = RULE.matcher(lines.get(i));
            if (heading.matches()) {
                chapter = heading.group(1);
            } else if (rule.matches()) {
                // A rule is a paragraph: its sentence, then its intent, each over as many lines as it needs.
                int end = i + 1;
                while (end < lines.size() && !lines.get(end).isBlank()) {
                    end++;
                }
                String paragraph = String.join(" ", lines.subList(i, end));
                rules.add(rule(rule.group(1), chapter, paragraph.substring(rule.start(2))));
            }
        }
        return new RuleBook(rules);
    }

    private static Rule rule(String id, String chapter, String text) {
        int intent = text.indexOf(INTENT);
        String sentence = intent < 0 ? text : text.substring(0, intent).strip();
        return new Rule(
                id,
                chapter,
                sentence.contains("MUST"),
                sentence,
                intent < 0 ? "" : text.substring(intent + INTENT.length()));
    }

    /**
     * All rules, in their order.
     *
     * @return the rules, unmodifiable
     */
    public List<Rule> rules() {
        return rules;
    }

    /**
     * The rule of that id.
     *
     * @param id as {@code LK-301}
     * @return the rule, empty if there is none
     */
    public Optional<Rule> find(String id) {
        return rules.stream().filter(rule -> rule.id().equals(id)).findFirst();
    }
}
