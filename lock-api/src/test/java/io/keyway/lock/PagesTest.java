// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What holds for all pages and sources of the project, in all modules. Failures are told as file:line. */
class PagesTest {
    private static final int LONGEST = 120;
    private static final Set<String> NOT_OURS = Set.of("target", ".git");

    private static final Pattern URL = Pattern.compile("https?://\\S+");
    private static final Pattern CODE_ALONE = Pattern.compile("\\s*(?:[-*] )?`[^`]+`[.,;]?");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)|^\\[[^]]+]: (\\S+)$", Pattern.MULTILINE);
    private static final Pattern DEFINITION = Pattern.compile("\\[[^]]+]: \\S+");
    private static final Pattern TYPE = Pattern.compile("`([A-Z][a-z]\\w+)[.`]");
    private static final Pattern AGAIN = Pattern.compile("`again (\\S+) '?([^`' ]+)'?([^`]*)`");

    private static final String SOAK = "@Tag(\"soak\")";

    private final Path root = Path.of("").toAbsolutePath().getParent();
    private final List<Path> files = files();

    @Test
    void noLineIsTooLong() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path file : files) {
            boolean page = isPage(file);
            boolean code = false;
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i);
                boolean fence = page && line.strip().startsWith("```");
                code ^= fence;
                if (line.codePointCount(0, line.length()) > LONGEST && !(page && (code || isExempt(line)))) {
                    tooLong.add(root.relativize(file) + ":" + (i + 1) + ": " + line.length());
                }
            }
        }
        assertThat(tooLong).as("lines of more than %s characters", LONGEST).isEmpty();
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path file : files) {
            if (!isPage(file)) {
                continue;
            }
            String text = Files.readString(file);
            Matcher link = LINK.matcher(text);
            while (link.find()) {
                String target = link.group(1) == null ? link.group(2) : link.group(1);
                if (target.contains("://") || target.startsWith("mailto:")) {
                    continue;
                }
                links++;
                int hash = target.indexOf('#');
                String path = hash < 0 ? target : target.substring(0, hash);
                Path aim = path.isEmpty() ? file : file.resolveSibling(path).normalize();
                if (!Files.exists(aim) || (hash >= 0 && !anchors(aim).contains(target.substring(hash + 1)))) {
                    broken.add(at(file, text, link.start()) + target);
                }
            }
        }
        assertThat(broken).as("links that lead nowhere").isEmpty();
        assertThat(links).isGreaterThan(100);
    }

    @Test
    void everyCommandOfTheTrackRecordNamesATest() throws IOException {
        Path record = root.resolve("docs/track-record.md");
        String text = Files.readString(record);
        List<String> dangling = new ArrayList<>();
        int commands = 0;
        Matcher again = AGAIN.matcher(text);
        while (again.find()) {
            if (again.group(1).startsWith("examples/")) {
                continue;
            }
            for (String test : again.group(2).split(",", -1)) {
                commands++;
                String[] parts = test.split("#", 2);
                List<Path> classes = files.stream()
                        .filter(file ->
                                file.startsWith(root.resolve(again.group(1)).resolve("src/test")))
                        .filter(file -> file.endsWith(parts[0] + ".java"))
                        .toList();
                boolean all = again.group(3).contains("-P");
                if (classes.size() != 1 || !hasTests(classes.get(0), parts.length > 1 ? parts[1] : "", all)) {
                    dangling.add(at(record, text, again.start()) + again.group(1) + " " + test);
                }
            }
        }
        assertThat(dangling).as("commands of the track record that run no test").isEmpty();
        assertThat(commands).isGreaterThan(100);
    }

    @Test
    void theGlossaryNamesTypesThatThereAre() throws IOException {
        Set<String> types = new HashSet<>();
        files.forEach(file -> types.add(file.getFileName().toString().replace(".java", "")));
        Path glossary = root.resolve("docs/glossary.md");
        String text = Files.readString(glossary);
        List<String> unknown = new ArrayList<>();
        Matcher type = TYPE.matcher(text);
        int names = 0;
        while (type.find()) {
            names++;
            if (!types.contains(type.group(1))) {
                unknown.add(at(glossary, text, type.start()) + type.group(1));
            }
        }
        assertThat(unknown).as("names of the glossary that are no file").isEmpty();
        assertThat(names).isGreaterThan(20);
    }

    /** Whether the class has a test of each of these names; a soak counts where soaks run too. */
    private static boolean hasTests(Path file, String methods, boolean soaksToo) throws IOException {
        String source = Files.readString(file);
        boolean all = soaksToo || !source.contains("\n" + SOAK);
        return Stream.of(methods.split("\\+", -1)).allMatch(method -> {
            Matcher test =
                    Pattern.compile("\\b" + method.replace("*", "\\w*") + "\\(").matcher(source);
            boolean found = method.isEmpty() && all;
            while (!found && test.find()) {
                String before = source.substring(0, test.start());
                found = all
                        && (soaksToo
                                || !before.substring(before.lastIndexOf("\n\n")).contains(SOAK));
            }
            return found;
        });
    }

    private String at(Path file, String text, int index) {
        return root.relativize(file) + ":" + (text.substring(0, index).lines().count() + 1) + ": ";
    }

    private static boolean isPage(Path file) {
        return file.toString().endsWith(".md");
    }

    /** Tables, what a test reads, URLs and where links lead, and code that cannot be broken. */
    private static boolean isExempt(String line) {
        String text = line.strip();
        return text.startsWith("|")
                || text.startsWith("<!--")
                || URL.matcher(text).find()
                || DEFINITION.matcher(text).matches()
                || CODE_ALONE.matcher(line).matches();
    }

    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new HashSet<>();
        for (String line : Files.readAllLines(page)) {
            if (line.startsWith("#")) {
                anchors.add(line.replaceFirst("^#+ ", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'));
            }
        }
        return anchors;
    }

    private List<Path> files() {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
                    return NOT_OURS.contains(dir.getFileName().toString())
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    String name = file.getFileName().toString();
                    if (name.endsWith(".java") || name.endsWith(".md")) {
                        found.add(file);
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(found).hasSizeGreaterThan(500);
        return found;
    }
}
