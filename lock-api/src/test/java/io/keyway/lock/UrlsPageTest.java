// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about URLs says what the code does. */
class UrlsPageTest {
    private static final Pattern EXAMPLE = Pattern.compile("(lock:jdbc:\\S+) +driver sees (\\S+)");

    private final String page = page();

    @Test
    void tablesListTheCommonOptions() {
        List<String> rows = page.lines().filter(line -> line.startsWith("| `")).toList();
        List<Option<?>> options = new ArrayList<>(CommonOptions.ALL);
        options.add(CommonOptions.TOKEN_FLOOR);

        assertThat(rows).hasSameSizeAs(options);
        for (int i = 0; i < rows.size(); i++) {
            Option<?> option = options.get(i);
            assertThat(rows.get(i)).startsWith("| `" + option.name() + "` |");
            if (!option.defaultText().isEmpty()) {
                assertThat(rows.get(i)).contains("| `" + option.defaultText() + "` |");
            }
        }
    }

    @Test
    void examplesParseAsShown() {
        List<Matcher> examples =
                page.lines().map(EXAMPLE::matcher).filter(Matcher::find).toList();

        assertThat(examples).hasSize(2);
        assertThat(examples).allSatisfy(example -> {
            LockUrl url = LockUrl.parse(example.group(1));
            assertThat(url.opaque()).contains(example.group(2));
            url.check(CommonOptions.ALL);
        });
    }

    @Test
    void wordsOfRequireAreComplete() {
        Stream<String> words = Stream.concat(
                Stream.of(Feature.values()).map(Feature::label),
                Stream.of("exclusion", "belief", "tokens", "failover", "always", "timed", "no"));

        assertThat(words).allSatisfy(word -> assertThat(page).contains("`" + word + "`"));
    }

    private static String page() {
        try {
            return Files.readString(Path.of("..", "docs", "urls.md"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
