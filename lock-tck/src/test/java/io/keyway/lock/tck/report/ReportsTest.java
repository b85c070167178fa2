// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class ReportsTest {
    private static final CheckResult PASSED = Samples.check("LK-101/a-name-is-a-path", Verdict.PASS, "");
    private static final CheckResult FAILED = Samples.failure(
            "LK-301/nobody-holds-twice",
            List.of("LK-301", "LK-302"),
            "two <hold> & \"believe\" \u0001",
            "a\u0000b ]]> <x>");
    private static final CheckResult SKIPPED = Samples.check("LK-1510/a-restart", Verdict.NOT_RUN, "no server");

    @TempDir
    Path directory;

    private static Document parsed(Path file) throws Exception {
        String text = Files.readString(file).replace("<!DOCTYPE html>", "");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aBuildServerReadsTheXml() throws Exception {
        Reports.write(directory, Samples.result(PASSED, FAILED, SKIPPED));
        Element suite = parsed(directory.resolve("junit.xml")).getDocumentElement();
        assertThat(suite.getAttribute("tests")).isEqualTo("3");
        assertThat(suite.getAttribute("failures")).isEqualTo("1");
        assertThat(suite.getAttribute("skipped")).isEqualTo("1");
        Element failed = (Element) suite.getElementsByTagName("failure").item(0);
        assertThat(failed.getAttribute("message")).isEqualTo("two <hold> & \"believe\" \uFFFD");
        assertThat(failed.getTextContent()).contains("look first: Is looking", "a\uFFFDb ]]> <x>");
        assertThat(((Element) failed.getParentNode()).getAttribute("classname")).isEqualTo("LK-301");
        assertThat(((Element) suite.getElementsByTagName("skipped").item(0)).getAttribute("message"))
                .isEqualTo("not run: no server");
    }

    @Test
    void thePageIsWholeAndNeedsNothingElse() throws Exception {
        Reports.write(directory, Samples.result(PASSED, FAILED, SKIPPED));
        Document page = parsed(directory.resolve("report.html"));
        String text = page.getDocumentElement().getTextContent();
        assertThat(text)
                .contains("Sample locks 1.2", "not compatible", "two <hold> & \"believe\"", "Is looking and taking")
                .contains("LK-101", "A name MUST be a path", "one rule for all stores", "Names", "Providers")
                .contains("clock rates | within 1 %", "Sample");
        assertThat(page.getElementsByTagName("svg").getLength()).isEqualTo(1);
        assertThat(Files.readString(directory.resolve("report.html"))).doesNotContain("<script", "src=", "http://h");
    }

    @Test
    void thePageIsWrittenForPeople() throws Exception {
        Reports.write(directory, Samples.result(PASSED, FAILED, SKIPPED));
        Document page = parsed(directory.resolve("report.html"));
        assertThat(texts(page, "h2")).allMatch(heading -> Character.isUpperCase(heading.charAt(0)), "a sentence");
        assertThat(page.getDocumentElement().getTextContent()).doesNotContain("`");
        assertThat(texts(page, "code")).contains("/");
        assertThat(texts(page, "td")).contains("fencing, list").doesNotContain("yes");
    }

    private static List<String> texts(Document page, String element) {
        NodeList found = page.getElementsByTagName(element);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> found.item(i).getTextContent())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "100, 100 ms",
        "60000, 60.0 s",
        "120000, 2 min",
        "150000, 2 min 30 s",
        "86400000, 24 h",
        "9000000, 2 h 30 min"
    })
    void aTimeIsInTheUnitsOfPeople(long millis, String text) {
        assertThat(Summary.time(Duration.ofMillis(millis))).isEqualTo(text);
    }

    @Test
    void theTableToPublishNamesProviderFeaturesAndEveryRule() {
        TckResult result = Samples.result(PASSED, FAILED, SKIPPED);
        String text = new Compatibility(result, Ruling.of(result), Samples.HOST).markdown();
        assertThat(text)
                .startsWith("""
                    # Sample locks 1.2: not compatible

                    At least one check has failed. 1 passed, 1 failed, 1 not run.

                    | | |
                    |---|---|
                    | URL | `lock:sample://h:1?password=***` |
                    | API level | 1 |
                    | Kit | 0.1 |
                    | Profile | smoke |
                    | Seed | 7 |
                    | Time factor | 1 |
                    | Locks shared within | network |
                    | os | Sample 1 |

                    ## Features

                    | Feature | Declared |
                    |---|---|
                    | read-write | no |
                    | semaphore | no |
                    | fencing | yes |
                    | fifo | no |
                    | list | yes |
                    | break | no |
                    | wake-up | no |
                    | caching | no |
                    | upgrade | no |
                    | hold-at-least | no |
                    | drain | no |
                    | transactions | no |
                    | tree | no |
                    | node-sets | no |

                    ## Guarantees

                    | Of | Grade | Condition |
                    |---|---|---|
                    | exclusion | always |  |
                    | belief | timed | clock rates \\| within 1 % |
                    | tokens | always |  |
                    | failover | no |  |
                    | ttl | 100 ms to 60.0 s |  |

                    ## Rules

                    | Rule | Level | Finding | Reason |
                    |---|---|---|---|
                    | LK-101 | MUST | pass |  |
                    """)
                .contains("| LK-301 | MUST | fail | two &lt;hold> & \"believe\" \u0001 |\n")
                .contains("| LK-302 | MUST | inconclusive | a check that covers it failed by another rule |\n")
                .endsWith("\n## Not run\n\n- no server: LK-1510/a-restart\n");
    }

    @Test
    void programsReadTheSame() throws Exception {
        Reports.write(directory, Samples.result(PASSED, FAILED, SKIPPED));
        String json = Files.readString(directory.resolve("compatibility.json"));
        assertThat(new JsonRecogniser(json).accepts()).isTrue();
        assertThat(json)
                .startsWith("{\n  \"outcome\": \"not compatible\",\n  \"provider\": \"Sample locks\",")
                .contains("\"seed\": 7,", "\"read-write\": false", "\"fencing\": true", "\"minTtlMs\": 100")
                .contains("\"message\": \"two <hold> & \\\"believe\\\" \\u0001\"")
                .contains("\"id\": \"LK-1511\"");
    }

    @Test
    void whatAnEarlierRunLeftIsGone() throws Exception {
        Reports.write(directory, Samples.result(FAILED));
        assertThat(directory.resolve("histories/LK-301-nobody-holds-twice.txt")).exists();
        Reports.write(directory, Samples.result(PASSED));
        assertThat(directory.resolve("histories/LK-301-nobody-holds-twice.txt")).doesNotExist();
    }

    @Test
    void aProviderThatCannotBeOpenedIsAnErrorForABuildServer() throws Exception {
        Reports.write(
                directory,
                Samples.result(Optional.of(
                        new TckResult.Trouble(TckResult.Trouble.Kind.CANNOT_OPEN, "no such host\n  at x"))));
        Element suite = parsed(directory.resolve("junit.xml")).getDocumentElement();
        assertThat(suite.getAttribute("errors")).isEqualTo("1");
        assertThat(suite.getElementsByTagName("error").item(0).getTextContent()).contains("no such host");
        assertThat(parsed(directory.resolve("report.html")).getDocumentElement().getTextContent())
                .contains("no such host");
    }
}
