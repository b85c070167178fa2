// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What an application requires of a provider: the {@code require} option.
 *
 * @param features features that it must declare
 * @param grades the least grade of promises, by name: exclusion, belief, tokens, failover
 */
public record Requirements(Set<Feature> features, Map<String, Grade> grades) {
    /** Requires nothing. */
    public static final Requirements NONE = new Requirements(Set.of(), Map.of());

    private static final List<String> PROMISES = List.of("exclusion", "belief", "tokens", "failover");

    /**
     * Copies both and checks the names of the promises.
     *
     * @param features see the record
     * @param grades see the record
     */
    public Requirements {
        Set<Feature> copy = EnumSet.noneOf(Feature.class);
        copy.addAll(features);
        features = Collections.unmodifiableSet(copy);
        grades = Collections.unmodifiableMap(new TreeMap<>(grades));
        for (String promise : grades.keySet()) {
            if (!PROMISES.contains(promise)) {
                throw new IllegalArgumentException("there is no promise " + promise + ", only " + PROMISES);
            }
        }
    }

    /**
     * Parses features, and promises with a grade after a colon, joined by commas: {@code fencing,fifo,tokens:always}.
     *
     * @param text the value of the option
     * @return what is required
     * @throws IllegalArgumentException if a word is unknown; the message completes "... is" and names the nearest known
     *     one
     */
    public static Requirements parse(String text) {
        Set<Feature> features = EnumSet.noneOf(Feature.class);
        Map<String, Grade> grades = new TreeMap<>();
        String[] words = text.split(",", -1);
        boolean alone = words.length == 1;
        for (String word : words) {
            int colon = word.indexOf(':');
            if (colon < 0) {
                features.add(feature(word, alone));
            } else {
                grades.put(promise(word.substring(0, colon)), grade(word.substring(colon + 1)));
            }
        }
        return new Requirements(features, grades);
    }

    /**
     * {@return what is missing, in words; empty if nothing is}
     *
     * @param declared the features that the provider declares
     * @param promised what the provider promises
     */
    public List<String> missing(Set<Feature> declared, Guarantees promised) {
        List<String> missing = new ArrayList<>(missingFeatures(declared));
        grades.forEach((promise, least) -> {
            Guarantee guarantee = promised(promise, promised);
            if (guarantee.grade().compareTo(least) > 0) {
                missing.add(promise + ":" + label(least) + " (it promises " + promise + ":" + label(guarantee.grade())
                        + (guarantee.condition().isEmpty() ? "" : ", " + guarantee.condition()) + ")");
            }
        });
        return missing;
    }

    /**
     * {@return the required features that are not declared}
     *
     * @param declared the features that the provider declares
     */
    public List<String> missingFeatures(Set<Feature> declared) {
        return features.stream()
                .filter(feature -> !declared.contains(feature))
                .map(Feature::label)
                .toList();
    }

    /** Returns the text that {@link #parse} takes. */
    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        features.forEach(feature -> words.add(feature.label()));
        grades.forEach((promise, grade) -> words.add(promise + ":" + label(grade)));
        return String.join(",", words);
    }

    private static Feature feature(String word, boolean alone) {
        for (Feature feature : Feature.values()) {
            if (feature.label().equals(word)) {
                return feature;
            }
        }
        List<String> known = new ArrayList<>();
        for (Feature feature : Feature.values()) {
            known.add(feature.label());
        }
        PROMISES.forEach(promise -> known.add(promise + ":always"));
        throw unknown(alone ? "not known" : "not known at " + NameSyntax.quoted(word), word, known);
    }

    private static String promise(String word) {
        if (!PROMISES.contains(word)) {
            throw unknown("not known at " + NameSyntax.quoted(word), word, PROMISES);
        }
        return word;
    }

    private static Grade grade(String word) {
        for (Grade grade : Grade.values()) {
            if (label(grade).equals(word)) {
                return grade;
            }
        }
        throw unknown("not known at " + NameSyntax.quoted(word), word, List.of("always", "timed", "no"));
    }

    private static IllegalArgumentException unknown(String what, String word, List<String> known) {
        return new IllegalArgumentException(
                what + "; did you mean " + Suggestion.of(word, known) + "? Known are " + String.join(", ", known));
    }

    private static Guarantee promised(String promise, Guarantees promised) {
        return switch (promise) {
            case "exclusion" -> promised.exclusion();
            case "belief" -> promised.belief();
            case "tokens" -> promised.tokens();
            default -> promised.failover();
        };
    }

    private static String label(Grade grade) {
        return grade.name().toLowerCase(Locale.ROOT);
    }
}
