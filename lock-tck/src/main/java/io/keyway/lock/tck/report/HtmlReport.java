// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A run as one page that needs nothing else; it is well-formed XML too. */
final class HtmlReport {
    private static final String STYLE = """
            body{font:15px/1.45 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
            h1{margin-bottom:0} h2{margin-top:2em;border-bottom:1px solid #ddd}
            table{border-collapse:collapse;margin:.6em 0}
            td,th{padding:.15em .9em .15em 0;text-align:left;vertical-align:top}
            .word{display:inline-block;padding:.1em .6em;border-radius:.3em;color:#fff;background:#777}
            .pass,.compatible{background:#2a7d4f} .fail,.not-compatible,.cannot-open{background:#b3261e}
            .inconclusive,.excluded,.incomplete,.cancelled{background:#a86500}
            .small{font-size:80%} .intent{color:#666} .rule{margin:.9em 0} .rule p{margin:.2em 0}
            ul{margin:.2em 0} pre{background:#f6f6f6;padding:.8em;overflow-x:auto;font-size:12px}
            .failure{border-left:4px solid #b3261e;padding:.1em 1em;margin:1.2em 0} svg{max-width:100%;height:auto}
            """;

    private final TckResult result;
    private final List<Ruling> rulings;
    private final Map<String, String> host;
    private final StringBuilder out = new StringBuilder();

    private HtmlReport(TckResult result, List<Ruling> rulings, Map<String, String> host) {
        this.result = result;
        this.rulings = rulings;
        this.host = host;
    }

    static String of(TckResult result, List<Ruling> rulings, Map<String, String> host) {
        HtmlReport page = new HtmlReport(result, rulings, host);
        page.write();
        return page.out.toString();
    }

    private void write() {
        String title = Summary.provider(result) + ": " + Summary.word(result);
        out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>");
        out.append(Markup.xml(title)).append("</title><style>").append(STYLE).append("</style></head>\n<body>\n");
        out.append("<h1>").append(Markup.xml(Summary.provider(result))).append(" ");
        word(Summary.word(result));
        out.append("</h1>\n");
        paragraph("", Summary.meaning(result));
        paragraph("", Summary.counts(result) + ", in " + Summary.time(result.took()));
        Summary.loops(result).ifPresent(text -> paragraph("", text));
        facts();
        failures();
        undecided();
        notTried();
        features();
        rules();
        out.append("</body>\n</html>\n");
    }

    private void word(String word) {
        out.append("<span class=\"word ").append(word.replace(' ', '-')).append("\">");
        out.append(Markup.xml(word)).append("</span>");
    }

    private void paragraph(String kind, String text) {
        out.append("<p").append(kind.isEmpty() ? "" : " class=\"" + kind + "\"").append('>');
        out.append(Markup.html(text)).append("</p>\n");
    }

    private void row(String name, String value) {
        out.append("<tr><th>").append(Markup.xml(name)).append("</th><td>");
        out.append(Markup.xml(value)).append("</td></tr>\n");
    }

    private void facts() {
        out.append("<table>\n");
        row("URL", result.url());
        row("API level", Integer.toString(result.apiLevel()));
        row("TCK", result.tckVersion());
        row("profile", Summary.profile(result) + (result.virtualTime() ? ", in virtual time" : ""));
        row("seed", Long.toString(result.seed()));
        row("time factor", Summary.factor(result));
        row("locks shared within", Summary.word(result.reach().name()));
        host.forEach(this::row);
        out.append("</table>\n");
    }

    private void failures() {
        List<CheckResult> failed = result.with(Verdict.FAIL);
        if (failed.isEmpty()) {
            return;
        }
        out.append("<h2>What failed</h2>\n");
        Causes.of(result).forEach((cause, checks) -> {
            if (checks.size() > 1) {
                paragraph("", checks.size() + " failures, perhaps for one reason: " + cause);
            }
            checks.forEach(this::found);
        });
    }

    private void found(CheckResult check) {
        out.append("<div class=\"failure\" id=\"")
                .append(Markup.xml(check.id()))
                .append("\">\n<h3>");
        out.append(Markup.xml(check.rules().get(0) + ": " + CheckInfo.words(check.id())))
                .append("</h3>\n");
        out.append("<pre>").append(Markup.xml(check.message())).append("</pre>\n");
        out.append("<p><b>Look first:</b> ").append(Markup.xml(check.hint())).append("</p>\n");
        // The TCK draws the picture itself, and escapes what it was told.
        check.picture().ifPresent(out::append);
        check.evidence().ifPresent(text -> {
            out.append("<details><summary>history</summary><pre>");
            out.append(Markup.xml(text)).append("</pre></details>\n");
        });
        out.append("</div>\n");
    }

    private void undecided() {
        List<CheckResult> undecided = result.with(Verdict.INCONCLUSIVE).stream()
                .filter(Evidence::exists)
                .toList();
        if (!undecided.isEmpty()) {
            out.append("<h2>What has no verdict</h2>\n");
            undecided.forEach(this::found);
        }
    }

    private void notTried() {
        for (Verdict verdict : List.of(Verdict.EXCLUDED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN)) {
            Map<String, List<String>> groups = Summary.byReason(result, verdict);
            if (groups.isEmpty()) {
                continue;
            }
            out.append("<h2>").append(Summary.heading(verdict)).append("</h2>\n<ul>\n");
            groups.forEach((reason, ids) -> out.append("<li>")
                    .append(Markup.html(reason + ": " + String.join(", ", ids)))
                    .append("</li>\n"));
            out.append("</ul>\n");
        }
    }

    private void features() {
        out.append("<h2>Features and guarantees</h2>\n<table>\n");
        row("has", features(true));
        row("has not", features(false));
        out.append("</table>\n");
        result.guarantees().ifPresent(promised -> {
            out.append("<table>\n");
            Summary.guarantees(promised)
                    .forEach((name, promise) -> row(
                            name,
                            Summary.word(promise.grade().name())
                                    + (promise.condition().isEmpty() ? "" : ": " + promise.condition())));
            row("ttl", Summary.time(promised.minTtl()) + " to " + Summary.time(promised.maxTtl()));
            out.append("</table>\n");
        });
    }

    private String features(boolean declared) {
        return Summary.features(result).entrySet().stream()
                .filter(each -> each.getValue() == declared)
                .map(each -> each.getKey().label())
                .collect(Collectors.joining(", "));
    }

    private void rules() {
        out.append("<h2>Rules</h2>\n");
        String chapter = "";
        for (Ruling ruling : rulings) {
            if (!ruling.rule().chapter().equals(chapter)) {
                chapter = ruling.rule().chapter();
                out.append("<h3>").append(Markup.xml(chapter)).append("</h3>\n");
            }
            rule(ruling);
        }
    }

    private void rule(Ruling ruling) {
        out.append("<div class=\"rule\"><p><b>").append(ruling.rule().id()).append("</b> ");
        word(ruling.finding().label());
        out.append(' ').append(Markup.html(ruling.rule().sentence())).append("</p>\n");
        paragraph("intent", ruling.rule().intent());
        if (ruling.checks().isEmpty()) {
            paragraph("small", ruling.reason());
        } else {
            out.append("<ul class=\"small\">\n");
            for (CheckResult check : ruling.checks()) {
                out.append("<li>")
                        .append(Markup.xml(CheckInfo.words(check.id())))
                        .append(": ");
                out.append(Markup.xml(Summary.word(check.verdict().name())));
                detail(check);
                out.append("</li>\n");
            }
            out.append("</ul>\n");
        }
        out.append("</div>\n");
    }

    private void detail(CheckResult check) {
        if (check.verdict() == Verdict.FAIL) {
            out.append(" (<a href=\"#").append(Markup.xml(check.id())).append("\">why</a>)");
        } else if (!check.message().isEmpty()) {
            out.append(Markup.xml(" (" + Summary.firstLine(check.message()) + ")"));
        } else {
            out.append(Markup.xml(", " + Summary.time(check.took())));
        }
        check.notes().forEach(note -> out.append(Markup.xml("; " + note)));
    }
}
