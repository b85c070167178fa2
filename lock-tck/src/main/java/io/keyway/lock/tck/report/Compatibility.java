// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantee;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a provider's author publishes: {@code compatibility.json} for programs, {@code compatibility.md} for people. */
final class Compatibility {
    private final TckResult result;
    private final List<Ruling> rulings;
    private final Map<String, String> host;

    Compatibility(TckResult result, List<Ruling> rulings, Map<String, String> host) {
        this.result = result;
        this.rulings = rulings;
        this.host = host;
    }

    // JSON

    String json() {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("outcome", Summary.word(result));
        root.put("provider", result.provider());
        root.put("providerVersion", result.providerVersion());
        root.put("apiLevel", result.apiLevel());
        root.put("tckVersion", result.tckVersion());
        root.put("url", result.url());
        root.put("profile", Summary.profile(result));
        root.put("seed", result.seed());
        root.put("timeFactor", result.timeFactor());
        root.put("virtualTime", result.virtualTime());
        root.put("reach", Summary.word(result.reach().name()));
        root.put("tookMs", result.took().toMillis());
        root.put("host", host);
        if (result.trouble().isPresent()) {
            root.put("trouble", Summary.trouble(result));
        }
        Map<String, Object> features = new LinkedHashMap<>();
        Summary.features(result).forEach((feature, declared) -> features.put(feature.label(), declared));
        root.put("features", features);
        result.guarantees().ifPresent(promised -> root.put("guarantees", guarantees()));
        Map<String, Object> counts = new LinkedHashMap<>();
        for (Verdict verdict : Verdict.values()) {
            counts.put(verdict.name(), result.count(verdict));
        }
        root.put("counts", counts);
        root.put("rules", rulings.stream().map(Compatibility::rule).toList());
        root.put("checks", result.checks().stream().map(Compatibility::check).toList());
        root.put("failures", failures());
        root.put("excluded", groups(Verdict.EXCLUDED));
        root.put("notRun", groups(Verdict.NOT_RUN));
        return Markup.json(root);
    }

    private Map<String, Object> guarantees() {
        Map<String, Object> table = new LinkedHashMap<>();
        result.guarantees().ifPresent(promised -> {
            Summary.guarantees(promised)
                    .forEach((name, promise) -> table.put(
                            name,
                            Map.of("grade", Summary.word(promise.grade().name()), "condition", promise.condition())));
            table.put("minTtlMs", promised.minTtl().toMillis());
            table.put("maxTtlMs", promised.maxTtl().toMillis());
        });
        return table;
    }

    private static Map<String, Object> rule(Ruling ruling) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", ruling.rule().id());
        entry.put("level", ruling.rule().must() ? "MUST" : "SHOULD");
        entry.put("finding", ruling.finding().label());
        if (!ruling.reason().isEmpty()) {
            entry.put("reason", ruling.reason());
        }
        entry.put("checks", ruling.checks().stream().map(CheckResult::id).toList());
        return entry;
    }

    private static Map<String, Object> check(CheckResult check) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", check.id());
        entry.put("verdict", check.verdict().name());
        entry.put("tookMs", check.took().toMillis());
        if (!check.message().isEmpty()) {
            entry.put("message", check.message());
        }
        if (!check.notes().isEmpty()) {
            entry.put("notes", check.notes());
        }
        if (check.repeats() > 0) {
            entry.put("repeats", check.repeats());
        }
        return entry;
    }

    private List<Object> failures() {
        List<Object> groups = new ArrayList<>();
        Causes.of(result).forEach((cause, checks) -> {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("cause", cause);
            group.put("checks", checks.stream().map(CheckResult::id).toList());
            groups.add(group);
        });
        return groups;
    }

    private List<Object> groups(Verdict verdict) {
        List<Object> groups = new ArrayList<>();
        Summary.byReason(result, verdict).forEach((reason, ids) -> {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("reason", reason);
            group.put("checks", ids);
            groups.add(group);
        });
        return groups;
    }

    // Markdown

    String markdown() {
        StringBuilder out = new StringBuilder();
        out.append("# ")
                .append(Summary.provider(result))
                .append(": ")
                .append(Summary.word(result))
                .append("\n\n");
        out.append(Markup.cell(Summary.meaning(result))).append(' ');
        out.append(Summary.counts(result)).append(".");
        Summary.loops(result).ifPresent(text -> out.append(' ').append(text));
        out.append("\n\n");
        out.append("| | |\n|---|---|\n");
        row(out, "URL", "`" + result.url() + "`");
        row(out, "API level", Integer.toString(result.apiLevel()));
        row(out, "Kit", result.tckVersion());
        row(out, "Profile", Summary.profile(result) + (result.virtualTime() ? ", in virtual time" : ""));
        row(out, "Seed", Long.toString(result.seed()));
        row(out, "Time factor", Summary.factor(result));
        row(out, "Locks shared within", Summary.word(result.reach().name()));
        host.forEach((name, value) -> row(out, name, value));
        features(out);
        promises(out);
        rules(out);
        notTried(out);
        return out.toString();
    }

    private static void row(StringBuilder out, String... cells) {
        out.append('|');
        for (String cell : cells) {
            out.append(' ').append(Markup.cell(cell)).append(" |");
        }
        out.append('\n');
    }

    private void features(StringBuilder out) {
        out.append("\n## Features\n\n| Feature | Declared |\n|---|---|\n");
        for (Map.Entry<Feature, Boolean> entry : Summary.features(result).entrySet()) {
            row(out, entry.getKey().label(), entry.getValue() ? "yes" : "no");
        }
    }

    private void promises(StringBuilder out) {
        result.guarantees().ifPresent(promised -> {
            out.append("\n## Guarantees\n\n| Of | Grade | Condition |\n|---|---|---|\n");
            for (Map.Entry<String, Guarantee> entry :
                    Summary.guarantees(promised).entrySet()) {
                Guarantee promise = entry.getValue();
                row(out, entry.getKey(), Summary.word(promise.grade().name()), promise.condition());
            }
            row(out, "ttl", Summary.time(promised.minTtl()) + " to " + Summary.time(promised.maxTtl()), "");
        });
    }

    private void rules(StringBuilder out) {
        out.append("\n## Rules\n\n| Rule | Level | Finding | Reason |\n|---|---|---|---|\n");
        for (Ruling ruling : rulings) {
            row(
                    out,
                    ruling.rule().id(),
                    ruling.rule().must() ? "MUST" : "SHOULD",
                    ruling.finding().label(),
                    Summary.firstLine(ruling.reason()));
        }
    }

    private void notTried(StringBuilder out) {
        for (Verdict verdict : List.of(Verdict.EXCLUDED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)) {
            Map<String, List<String>> groups = Summary.byReason(result, verdict);
            if (groups.isEmpty()) {
                continue;
            }
            out.append("\n## ").append(Summary.heading(verdict)).append("\n\n");
            groups.forEach((reason, ids) -> out.append("- ")
                    .append(Markup.cell(reason))
                    .append(": ")
                    .append(String.join(", ", ids))
                    .append('\n'));
        }
    }
}
