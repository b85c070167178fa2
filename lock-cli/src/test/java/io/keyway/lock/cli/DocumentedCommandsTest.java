// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Each command on the pages that a newcomer types from is run as it stands there: by `.ci/run`, by `.ci/documented`, or
 * here. A mark before a block says by which.
 */
class DocumentedCommandsTest {
    private static final Path ROOT = Path.of("..");
    private static final List<String> PAGES = List.of(
            "README.md",
            "CONTRIBUTING.md",
            "docs/applications.md",
            "docs/writing-a-provider.md",
            "docs/compatibility-kit.md");
    private static final String HERE = "lock-cli/src/test/java/io/keyway/lock/cli/DocumentedCommandsTest.java";

    private static final String BATCH = "mvn --batch-mode --no-transfer-progress ";

    private static final Pattern MARK = Pattern.compile("<!-- run by (\\S+): ([^>]+) -->");
    private static final Pattern IN_A_SENTENCE = Pattern.compile("`((?:mvn|java -jar|\\./keyway) [^`]+)`");

    /** What these blocks are, which are no commands: by their first line. */
    private static final Map<String, String> NO_COMMANDS = Map.of(
            "     your program                       keyway run nightly -- ./backup.sh", "a drawing",
            "implementation(platform(\"io.keyway:keyway-bom:0.1.0-SNAPSHOT\"))", "the build of a Gradle project",
            "io.keyway.examples.files.FilesProvider", "a file of the guide, see GuideTest",
            "FAIL          LK-310   a newcomer does not overtake a waiter  647 ms", "what a command prints");

    /** An attempt that does not wait is answered, however busy this machine is. */
    private static final String PATIENT = "requestTimeout=" + Patience.seconds(20) + "s";

    @TempDir
    Path directory;

    /** A page: its blocks without a language, or with that of a shell, and all that is in no block, in one line. */
    private record Page(List<Block> blocks, String prose) {
        static Page of(String name) {
            List<Block> blocks = new ArrayList<>();
            StringBuilder prose = new StringBuilder();
            List<String> block = null;
            String before = "";
            for (String line : lines(ROOT.resolve(name))) {
                if (block == null && line.startsWith("```")) {
                    block = new ArrayList<>(List.of(line.substring(3)));
                } else if (block != null && line.equals("```")) {
                    if (Set.of("", "sh", "bash", "console").contains(block.remove(0))) {
                        Matcher mark = MARK.matcher(before);
                        boolean marked = mark.matches();
                        blocks.add(new Block(
                                marked ? mark.group(1) : "", marked ? mark.group(2) : "", String.join("\n", block)));
                    }
                    block = null;
                } else if (block != null) {
                    block.add(line);
                } else {
                    prose.append(line).append(' ');
                    before = line;
                }
            }
            return new Page(blocks, prose.toString());
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Block(String by, String name, String text) {
        String firstLine() {
            return text.lines().findFirst().orElse("");
        }
    }

    @ParameterizedTest
    @FieldSource("PAGES")
    void eachCommandIsRun(String name) throws IOException {
        Page page = Page.of(name);
        List<String> script = Files.readAllLines(ROOT.resolve(".ci/documented"));
        String everyBuild = Files.readString(ROOT.resolve(".ci/run"));
        String here = Files.readString(ROOT.resolve(HERE));
        List<String> forgotten = new ArrayList<>();
        for (Block block : page.blocks()) {
            boolean run = switch (block.by()) {
                case ".ci/run" -> everyBuild.contains(block.text().replace("mvn ", BATCH));
                case ".ci/documented" -> script.stream().anyMatch(line -> runs(line, name, block));
                case HERE -> here.contains("commands(\"" + block.name() + "\")");
                default -> NO_COMMANDS.containsKey(block.firstLine());
            };
            if (!run) {
                forgotten.add(block.text());
            }
        }
        IN_A_SENTENCE
                .matcher(page.prose())
                .results()
                .map(found -> found.group(1))
                .filter(command -> !everyBuild.contains(command.replace("mvn ", BATCH) + "\n"))
                .filter(command ->
                        !script.stream().map(String::strip).toList().contains("say " + name + " '" + command + "'"))
                .filter(command -> !isABlock(command))
                .forEach(forgotten::add);
        assertThat(everyBuild).contains("\n.ci/documented\n");
        assertThat(forgotten).as("commands that nothing runs").isEmpty();
        assertThat(page.blocks().stream().map(Block::name).filter(each -> !each.isEmpty()))
                .doesNotHaveDuplicates();
    }

    /** Whether that is a block of another page, which is run there. */
    private static boolean isABlock(String command) {
        return PAGES.stream()
                .map(Page::of)
                .flatMap(page -> page.blocks().stream())
                .anyMatch(block -> !block.by().isEmpty() && block.text().equals(command));
    }

    private static boolean runs(String line, String page, Block block) {
        return line.matches(".*\\brun " + Pattern.quote(page) + " '?" + Pattern.quote(block.name()) + "'?( .*|;.*)?");
    }

    @Test
    void aJobThatCronStarts() throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                Stage stage = new Stage(directory, "")) {
            Executables.script(stage.directory.resolve("backup.sh"), stage.beat("backup"));
            String url = server.url() + "?" + PATIENT;
            ChildProcess job = shell(stage, commands("a job that cron starts"), "lock:redis://host", "'" + url + "'");
            assertThat(job.exitCode()).as(job.err()).isZero();
            String elsewhere = "export KEYWAY_URL='" + url + "'; ";
            ChildProcess again = shell(stage, elsewhere + "keyway run --wait 0s nightly -- ./backup.sh");
            assertThat(again.exitCode()).as(again.err()).isEqualTo(124);
            ChildProcess shown = shell(stage, elsewhere + "keyway show nightly");
            assertThat(shown.exitCode()).isZero();
            assertThat(shown.out()).contains("kept after");
            ChildProcess broken = shell(stage, elsewhere + "keyway break nightly --reason TEXT");
            assertThat(broken.exitCode()).as(broken.err()).isZero();
            assertThat(shell(stage, elsewhere + "keyway run --wait 0s nightly -- ./backup.sh")
                            .exitCode())
                    .isZero();
            assertThat(stage.count("backup")).isEqualTo(2);
        }
    }

    @Test
    void aSiteThatIsEmptied() throws Exception {
        try (Stage stage = new Stage(directory, PATIENT)) {
            Executables.script(stage.directory.resolve("serve-session.sh"), stage.beat("reader"));
            Executables.script(stage.directory.resolve("install-new-version.sh"), stage.beat("writer"));
            ChildProcess both = shell(stage, commands("a site that is emptied"), "--drain 10m", "--drain 100ms");
            assertThat(both.exitCode()).as(both.err()).isZero();
            stage.assertRanOneAfterTheOther("reader", "writer");
            ChildProcess shown = shell(stage, "keyway show site");
            assertThat(shown.exitCode()).as(shown.err()).isZero();
        }
    }

    private static String commands(String name) throws IOException {
        return Page.of("docs/applications.md").blocks().stream()
                .filter(block -> block.name().equals(name))
                .findFirst()
                .orElseThrow()
                .text();
    }

    /** Runs commands in that directory, in which something of the page may be replaced by what there is. */
    private static ChildProcess shell(Stage stage, String commands, String... replaced) {
        String real = commands;
        if (replaced.length > 0) {
            assertThat(commands).contains(replaced[0]);
            real = commands.replace(replaced[0], replaced[1]);
        }
        return stage.start(stage.directory, "sh", "-ec", real);
    }
}
