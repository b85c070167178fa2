// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The launcher script in a small tree of its own, with a Maven and a Java that only write down how they were called.
 */
class LauncherTest {
    @TempDir
    Path directory;

    private Path root;
    private Path bin;
    private Path javaHome;
    private Path builds;
    private final Map<String, String> environment = new HashMap<>();
    private final List<ChildProcess> children = new ArrayList<>();

    @BeforeEach
    void makeTheTree() throws IOException {
        root = Files.createDirectories(directory.resolve("a project"));
        Executables.copy(Path.of("").toAbsolutePath().resolveSibling("keyway"), root.resolve("keyway"));
        write(root.resolve("pom.xml"), "<project/>");
        write(root.resolve("lock-api/pom.xml"), "<project/>");
        write(root.resolve("lock-api/src/main/java/A.java"), "class A {}");
        write(root.resolve("lock-cli/pom.xml"), "<project/>");
        builds = directory.resolve("builds");
        bin = directory.resolve("bin");
        // It builds for as long as the file "slow" is there.
        Executables.script(
                bin.resolve("mvn"),
                "echo build >>'" + builds + "'; while [ -e '" + directory.resolve("slow") + "' ]; do sleep 0.02; done; "
                        + "[ ! -e '" + directory.resolve("broken")
                        + "' ] || { printf '\\033[31mno\\033[0m\\n'; exit 1; }; "
                        + "mkdir -p lock-cli/target/lib && echo x >lock-cli/target/lock-cli-1.jar && "
                        + "echo x >lock-cli/target/lib/lock-api-1.jar; printf '\\033[0m'; echo noise; cat >/dev/null");
        javaHome = directory.resolve("jdk");
        // It writes down how it was called; the archive of classes is none of its business.
        Executables.script(
                javaHome.resolve("bin/java"),
                "case \"$*\" in *DumpLoadedClassList*) exit 1;; esac; for word; do echo \"<$word>\"; done");
        Executables.script(javaHome.resolve("bin/javac"), "exit 0");
        write(javaHome.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.1\"\n");
        environment.put("JAVA_HOME", javaHome.toString());
        environment.put("PATH", bin + ":/usr/bin:/bin");
        environment.put("LC_ALL", "C.UTF-8");
    }

    @AfterEach
    void endAll() {
        children.forEach(ChildProcess::close);
    }

    @Test
    void aMemberRunsWithBothCompilersAndAShortCommandWithTheFirst() throws Exception {
        ChildProcess command = keyway("run", "member");
        ChildProcess member = keyway("member", "--listen", "a:1");

        assertThat(command.exitCode()).isZero();
        assertThat(command.out()).contains("<-XX:TieredStopAtLevel=1>\n");
        assertThat(member.exitCode()).isZero();
        assertThat(member.out())
                .contains("<-XX:+TieredCompilation>\n")
                .doesNotContain("TieredStopAtLevel")
                .endsWith("<io.keyway.lock.cli.Main>\n<member>\n<--listen>\n<a:1>");
    }

    @Test
    void jarsOfTheUsersOwnComeBehindThoseOfTheCommand() throws Exception {
        environment.put("KEYWAY_CLASSPATH", "/opt/jdbc/h2.jar:/opt/locks/*");

        ChildProcess command = keyway("show");

        assertThat(command.exitCode()).isZero();
        assertThat(command.out()).contains("/lock-cli-1.jar:/opt/jdbc/h2.jar:/opt/locks/*>\n");
    }

    @Test
    void theFirstUseBuildsAndTheNextDoesNot() throws Exception {
        ChildProcess first = keyway("run", "n", "--", "echo", "two words", "");

        assertThat(first.exitCode()).isZero();
        assertThat(first.out()).endsWith("<io.keyway.lock.cli.Main>\n<run>\n<n>\n<-->\n<echo>\n<two words>\n<>");
        assertThat(first.out())
                .contains("/lock-api-1.jar:")
                .contains("/lock-cli-1.jar>")
                .doesNotContain("noise");
        assertThat(first.err()).as("Maven's own words and colours").startsWith("keyway: building");
        assertThat(first.err().lines()).hasSize(1);
        ChildProcess second = keyway("show");
        assertThat(second.exitCode()).isZero();
        assertThat(second.err()).isEmpty();
        assertThat(builds()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pom.xml", "lock-api/pom.xml", "lock-api/src/main/java/A.java"})
    void aNewerSourceOrPomBuildsAgain(String file) throws Exception {
        assertThat(keyway("show").exitCode()).isZero();
        Files.setLastModifiedTime(root.resolve(file), FileTime.fromMillis(System.currentTimeMillis() + 60_000));

        ChildProcess again = keyway("show");

        assertThat(again.exitCode()).isZero();
        assertThat(again.err()).contains("keyway: building");
    }

    @Test
    void whoWantsNoBuildRunsTheLastOne() throws Exception {
        environment.put("KEYWAY_BUILD", "no");
        refuses("Keyway is not built, and KEYWAY_BUILD=no forbids to build it", Map.of());
        environment.remove("KEYWAY_BUILD");
        ChildProcess built = keyway("show");
        assertThat(built.exitCode()).isZero();
        Files.setLastModifiedTime(
                root.resolve("lock-api/src/main/java/A.java"),
                FileTime.fromMillis(System.currentTimeMillis() + 60_000));
        environment.put("KEYWAY_BUILD", "no");

        ChildProcess again = keyway("show");

        assertThat(again.exitCode()).isZero();
        assertThat(again.out()).isEqualTo(built.out());
        assertThat(again.err()).isEmpty();
        assertThat(builds()).isEqualTo(1);
    }

    @Test
    void aMissingJarBuildsAgain() throws Exception {
        assertThat(keyway("show").exitCode()).isZero();
        try (var apps = Files.walk(root.resolve("lock-cli/target/app"))) {
            Files.delete(apps.filter(path -> path.toString().endsWith(".jar"))
                    .findFirst()
                    .orElseThrow());
        }

        assertThat(keyway("show").exitCode()).isZero();

        assertThat(builds()).isEqualTo(2);
    }

    @Test
    void aRunningBuildKeepsTheJarsOfTheOneBefore() throws Exception {
        ChildProcess before = keyway("show");
        assertThat(before.exitCode()).isZero();
        Files.setLastModifiedTime(root.resolve("pom.xml"), FileTime.fromMillis(System.currentTimeMillis() + 60_000));
        assertThat(keyway("show").exitCode()).isZero();

        String classPath = before.out()
                .lines()
                .filter(line -> line.contains(".jar:"))
                .findFirst()
                .orElseThrow();
        for (String jar : classPath.substring(1, classPath.length() - 1).split(":", -1)) {
            assertThat(Path.of(jar)).exists();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void twoFirstUsesBuildOnce(boolean flock) throws Exception {
        if (!flock) {
            withoutFlock();
        }
        Path slow = Files.createFile(directory.resolve("slow"));
        ChildProcess first = keyway("show");
        first.errLine("keyway: building");
        ChildProcess second = keyway("show");
        second.errLine("waiting for it");

        Files.delete(slow);

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(builds()).isEqualTo(1);
    }

    @Test
    void aBuilderThatWasKilledStandsInNobodysWay() throws Exception {
        withoutFlock();
        Path slow = Files.createFile(directory.resolve("slow"));
        ChildProcess first = keyway("show");
        first.errLine("keyway: building");
        first.signal("KILL");
        assertThat(first.process().waitFor()).isEqualTo(137);
        Files.delete(slow);

        assertThat(keyway("show").exitCode()).isZero();
    }

    @Test
    void aFailedBuildIsTriedAgainNextTime() throws Exception {
        Path broken = Files.createFile(directory.resolve("broken"));
        ChildProcess first = keyway("show");
        assertThat(first.exitCode()).isEqualTo(125);
        assertThat(first.err()).contains("no\nkeyway: the build failed").doesNotContain("\033");
        assertThat(first.out()).isEmpty();
        Files.delete(broken);

        assertThat(keyway("show").exitCode()).isZero();
    }

    @Test
    void whoeverMayNotBuildIsToldSo() throws Exception {
        Files.createDirectories(root.resolve("lock-cli/target"));
        // Not even root can make a file there.
        Files.createSymbolicLink(root.resolve("lock-cli/target/app"), Path.of("/proc"));

        ChildProcess child = keyway("show");

        assertThat(child.exitCode()).isEqualTo(125);
        assertThat(child.err()).contains("this user cannot write to " + root.resolve("lock-cli/target/app"));
        assertThat(builds).doesNotExist();
    }

    @Test
    void eachJdkHasAnArchiveOfItsOwn() throws Exception {
        // What is told apart is the archive: a class list is thrown away, and a dump writes the file that it is told.
        Executables.script(
                javaHome.resolve("bin/java"),
                "for word; do case $word in -XX:SharedArchiveFile=*) archive=${word#*=};; esac; done; "
                        + "case \"$*\" in *DumpLoaded*) exit 0;; *Xshare:dump*) echo x >\"$archive\"; exit 0;; esac; "
                        + "echo \"$archive\"");
        String first = keywayOutput();
        assertThat(first).endsWith(".jsa");
        assertThat(keywayOutput()).isEqualTo(first);

        write(javaHome.resolve("release"), "JAVA_VERSION=\"25.0.1\"\nJAVA_RUNTIME_VERSION=\"25.0.1+8\"\n");
        ChildProcess other = keyway("show");
        assertThat(other.exitCode()).isZero();
        assertThat(other.out()).endsWith(".jsa").isNotEqualTo(first);
        assertThat(other.err()).isEqualTo("keyway: preparing for Java 25.0.1, once ...");
        ChildProcess again = keyway("show");
        assertThat(again.exitCode()).isZero();
        assertThat(again.out()).isEqualTo(other.out());
        assertThat(again.err()).isEmpty();
        assertThat(builds()).isEqualTo(1);
    }

    private String keywayOutput() throws Exception {
        ChildProcess child = keyway("show");
        assertThat(child.exitCode()).isZero();
        return child.out();
    }

    @Test
    void itIsFoundThroughLinksAndFromAnywhere() throws Exception {
        Path links = Files.createDirectories(directory.resolve("my links"));
        Files.createSymbolicLink(links.resolve("far"), root.resolve("keyway"));
        Files.createSymbolicLink(links.resolve("kw"), Path.of("far"));

        ChildProcess child = start(links, "./kw", "show");

        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).contains("/a project/lock-cli/target/app/");
        environment.put("PATH", links + ":" + environment.get("PATH"));
        assertThat(start(directory, "/bin/sh", "-c", "kw show").exitCode()).isZero();
    }

    @Test
    void whatItNeedsIsSaidInOneSentence() throws Exception {
        refuses("JAVA_HOME is /nowhere, which has no bin/java", Map.of("JAVA_HOME", "/nowhere"));
        refuses(
                "there is no mvn on the PATH: install Maven",
                Map.of("PATH", tools("nothing").toString()));
        refuses(
                "no java on the PATH: install a JDK 17 or later",
                Map.of("PATH", tools("nothing").toString(), "JAVA_HOME", ""));
        write(javaHome.resolve("release"), "JAVA_VERSION=\"11.0.2\"\n");
        refuses("is Java 11.0.2, but Keyway needs 17 or later", Map.of());
        write(javaHome.resolve("release"), "JAVA_VERSION=\"1.8.0_392\"\n");
        refuses("is Java 1.8.0_392, but Keyway needs 17 or later", Map.of());
        write(javaHome.resolve("release"), "JAVA_VERSION=\"25\"\n");
        Files.delete(javaHome.resolve("bin/javac"));
        refuses("is a runtime without a compiler", Map.of());
    }

    @Test
    void withoutALocaleArgumentsAreStillText() throws Exception {
        environment.put("LC_ALL", "");
        environment.put("LC_CTYPE", "");
        environment.put("LANG", "C");
        Executables.script(javaHome.resolve("bin/java"), "echo \"$LC_ALL,$KEYWAY_LC_ALL\"");

        ChildProcess child = keyway("show");

        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).isEqualTo("C.UTF-8,unset");
    }

    private void refuses(String sentence, Map<String, String> changed) throws Exception {
        Map<String, String> before = Map.copyOf(environment);
        environment.putAll(changed);
        ChildProcess child = keyway("show");
        assertThat(child.exitCode()).as(sentence).isEqualTo(125);
        assertThat(child.err()).startsWith("keyway: ").contains(sentence);
        assertThat(child.err().lines()).hasSize(1);
        environment.putAll(before);
    }

    /** A PATH with the usual tools, but without flock, Maven and Java. */
    private Path tools(String name) throws IOException {
        Path tools = Files.createDirectories(directory.resolve("tools " + name));
        for (String tool : List.of(
                "sh",
                "cat",
                "cp",
                "date",
                "find",
                "head",
                "ln",
                "mkdir",
                "mv",
                "printf",
                "readlink",
                "rm",
                "rmdir",
                "sed",
                "sleep",
                "touch",
                "kill")) {
            String place = Files.exists(Path.of("/bin", tool)) ? "/bin/" : "/usr/bin/";
            Executables.script(tools.resolve(tool), "exec " + place + tool + " \"$@\"");
        }
        return tools;
    }

    private void withoutFlock() throws IOException {
        environment.put("PATH", bin + ":" + tools("without flock"));
    }

    private long builds() throws IOException {
        return Files.readAllLines(builds).size();
    }

    private ChildProcess keyway(String... words) {
        List<String> all = new ArrayList<>(List.of(root.resolve("keyway").toString()));
        all.addAll(List.of(words));
        return start(directory, all.toArray(String[]::new));
    }

    private ChildProcess start(Path from, String... words) {
        ProcessBuilder builder = new ProcessBuilder(words).directory(from.toFile());
        builder.environment().putAll(environment);
        environment.forEach((name, value) -> {
            if (value.isEmpty()) {
                builder.environment().remove(name);
            }
        });
        ChildProcess child = ChildProcess.start(builder);
        children.add(child);
        return child;
    }

    private static void write(Path path, String text) throws IOException {
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
