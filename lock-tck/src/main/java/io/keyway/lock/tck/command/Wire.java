// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.Scope;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Level;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What parent and child say to each other: lines of {@code MARK word field...}, between them tabs. Both ends are of one
 * build. A line without the mark is something that the provider printed.
 */
final class Wire {
    static final String MARK = "keyway-tck";

    private Wire() {}

    static String line(String word, List<String> fields) {
        StringBuilder line = new StringBuilder(MARK).append('\t').append(word);
        for (String field : fields) {
            line.append('\t');
            escape(field, line);
        }
        return line.toString();
    }

    private static void escape(String field, StringBuilder line) {
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            switch (c) {
                case '\\' -> line.append("\\\\");
                case '\t' -> line.append("\\t");
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                default -> line.append(c);
            }
        }
    }

    /** The word and the fields of a line; empty if it has no mark. */
    static Optional<List<String>> parse(String line) {
        if (!line.startsWith(MARK + "\t")) {
            return Optional.empty();
        }
        List<String> fields = new ArrayList<>();
        for (String field : line.substring(MARK.length() + 1).split("\t", -1)) {
            fields.add(unescape(field));
        }
        return Optional.of(fields);
    }

    private static String unescape(String field) {
        StringBuilder text = new StringBuilder();
        boolean escaped = false;
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (!escaped && c == '\\') {
                escaped = true;
            } else {
                text.append(escaped ? meant(c) : c);
                escaped = false;
            }
        }
        return text.toString();
    }

    private static char meant(char escaped) {
        return switch (escaped) {
            case 't' -> '\t';
            case 'n' -> '\n';
            case 'r' -> '\r';
            default -> escaped;
        };
    }

    // Values

    static List<String> config(TckConfig config) {
        List<String> fields = new ArrayList<>(List.of(
                config.profile().name(),
                Long.toString(config.seed()),
                Double.toString(config.timeFactor()),
                Integer.toString(config.parallel()),
                Long.toString(config.checkLimit().toMillis())));
        list(fields, config.only());
        fields.add(Integer.toString(config.excluded().size()));
        config.excluded().forEach((id, reason) -> fields.addAll(List.of(id, reason)));
        return fields;
    }

    static TckConfig config(Iterator<String> fields) {
        TckConfig config = TckConfig.of(Profile.valueOf(fields.next()))
                .withSeed(Long.parseLong(fields.next()))
                .withTimeFactor(Double.parseDouble(fields.next()))
                .withParallel(Integer.parseInt(fields.next()))
                .withCheckLimit(Duration.ofMillis(Long.parseLong(fields.next())))
                .withOnly(list(fields));
        Map<String, String> excluded = new TreeMap<>();
        for (int i = Integer.parseInt(fields.next()); i > 0; i--) {
            excluded.put(fields.next(), fields.next());
        }
        return config.withExcluded(excluded);
    }

    static List<String> check(CheckResult check) {
        List<String> fields = new ArrayList<>(List.of(
                check.id(),
                check.level().name(),
                check.verdict().name(),
                Long.toString(check.took().toNanos()),
                check.message(),
                check.hint(),
                Integer.toString(check.repeats())));
        list(fields, check.rules());
        list(fields, check.notes());
        list(fields, check.evidence().stream().toList());
        list(fields, check.picture().stream().toList());
        return fields;
    }

    static CheckResult check(Iterator<String> fields) {
        String id = fields.next();
        Level level = Level.valueOf(fields.next());
        Verdict verdict = Verdict.valueOf(fields.next());
        Duration took = Duration.ofNanos(Long.parseLong(fields.next()));
        String message = fields.next();
        String first = fields.next();
        int repeats = Integer.parseInt(fields.next());
        List<String> rules = list(fields);
        List<String> notes = list(fields);
        Optional<String> evidence = list(fields).stream().findFirst();
        Optional<String> picture = list(fields).stream().findFirst();
        return new CheckResult(id, rules, level, verdict, took, message, first, evidence, picture, notes, repeats);
    }

    /** A result but for its checks. */
    static List<String> subject(TckResult result) {
        List<String> fields = new ArrayList<>(List.of(
                result.provider(),
                result.providerVersion(),
                Integer.toString(result.apiLevel()),
                result.tckVersion(),
                result.url(),
                result.profile().name(),
                Long.toString(result.seed()),
                Double.toString(result.timeFactor()),
                Boolean.toString(result.virtualTime()),
                result.reach().name()));
        list(
                fields,
                new TreeSet<>(result.features()).stream().map(Feature::name).toList());
        list(fields, result.guarantees().map(Wire::guarantees).orElse(List.of()));
        fields.add(Long.toString(result.took().toNanos()));
        list(fields, result.trouble().map(Wire::trouble).orElse(List.of()));
        return fields;
    }

    static TckResult subject(Iterator<String> fields) {
        return new TckResult(
                fields.next(),
                fields.next(),
                Integer.parseInt(fields.next()),
                fields.next(),
                fields.next(),
                Profile.valueOf(fields.next()),
                Long.parseLong(fields.next()),
                Double.parseDouble(fields.next()),
                Boolean.parseBoolean(fields.next()),
                Scope.valueOf(fields.next()),
                features(list(fields)),
                guarantees(list(fields)),
                Duration.ofNanos(Long.parseLong(fields.next())),
                trouble(list(fields)),
                List.of());
    }

    private static Set<Feature> features(List<String> names) {
        Set<Feature> features = new TreeSet<>();
        names.forEach(name -> features.add(Feature.valueOf(name)));
        return features;
    }

    private static List<String> trouble(TckResult.Trouble trouble) {
        return List.of(trouble.kind().name(), trouble.message());
    }

    private static Optional<TckResult.Trouble> trouble(List<String> fields) {
        return fields.isEmpty()
                ? Optional.empty()
                : Optional.of(new TckResult.Trouble(TckResult.Trouble.Kind.valueOf(fields.get(0)), fields.get(1)));
    }

    private static List<String> guarantees(Guarantees promised) {
        List<String> fields = new ArrayList<>();
        for (Guarantee each :
                List.of(promised.exclusion(), promised.belief(), promised.tokens(), promised.failover())) {
            fields.add(each.grade().name());
            fields.add(each.condition());
        }
        fields.add(promised.minTtl().toString());
        fields.add(promised.maxTtl().toString());
        return fields;
    }

    private static Optional<Guarantees> guarantees(List<String> fields) {
        if (fields.isEmpty()) {
            return Optional.empty();
        }
        Iterator<String> each = fields.iterator();
        return Optional.of(new Guarantees(
                guarantee(each),
                guarantee(each),
                guarantee(each),
                guarantee(each),
                Duration.parse(each.next()),
                Duration.parse(each.next())));
    }

    private static Guarantee guarantee(Iterator<String> fields) {
        return new Guarantee(Grade.valueOf(fields.next()), fields.next());
    }

    private static void list(List<String> fields, List<String> elements) {
        fields.add(Integer.toString(elements.size()));
        fields.addAll(elements);
    }

    private static List<String> list(Iterator<String> fields) {
        List<String> elements = new ArrayList<>();
        for (int i = Integer.parseInt(fields.next()); i > 0; i--) {
            elements.add(fields.next());
        }
        return elements;
    }
}
