// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts a host in a process that outlives its launcher: a child of nobody, in a session of its own where setsid is at
 * hand, deaf to INT, HUP, QUIT and TSTP, in the directory /, without any descriptor or environment of the launcher but
 * what it needs.
 */
public final class HostLauncher {
    /**
     * The shell forks once more, prints the child's id and ends, so that the host is nobody's child: who ends the
     * launcher's process tree does not end the host. Ignored signals stay ignored over exec. Arguments: the log, then
     * the command.
     */
    private static final String SCRIPT = "log=$1; shift; cd / || exit 1; trap '' INT HUP QUIT TSTP; "
            + "if command -v setsid >/dev/null 2>&1; then setsid \"$@\" </dev/null >>\"$log\" 2>&1 & "
            + "else \"$@\" </dev/null >>\"$log\" 2>&1 & fi; echo $!";

    private static final Set<String> ENVIRONMENT = Set.of(
            "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "JAVA_HOME", "LD_LIBRARY_PATH");

    private static final long LOG_LIMIT = 1 << 20;
    private static final long SHELL_SECONDS = 20;

    private final List<String> jvmArguments;
    private final String mainClass;
    private final List<String> arguments;
    private final Path log;

    /**
     * Makes a launcher.
     *
     * @param jvmArguments such as -Xmx64m; the class path is this JVM's own
     * @param mainClass started with the arguments
     * @param log what the host prints is appended to it; a log of more than 1 MiB is set aside first
     */
    public HostLauncher(List<String> jvmArguments, String mainClass, List<String> arguments, Path log) {
        this.jvmArguments = List.copyOf(jvmArguments);
        this.mainClass = mainClass;
        this.arguments = List.copyOf(arguments);
        this.log = log.toAbsolutePath();
    }

    /**
     * Starts the host and returns its process as soon as it is started, not when it serves. The handle is of no child:
     * it says whether the process lives, not its exit status.
     *
     * @throws IOException if no shell or no process can be started
     * @throws InterruptedException if interrupted meanwhile; the host may run then
     */
    public ProcessHandle launch() throws IOException, InterruptedException {
        setAsideLargeLog();
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", SCRIPT, "keyway-host", log.toString()));
        command.addAll(javaCommand());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        keepOnly(builder.environment());
        Process shell = builder.start();
        if (!shell.waitFor(SHELL_SECONDS, TimeUnit.SECONDS)) {
            shell.destroyForcibly();
            throw new IOException("The shell that starts the host did not end within " + SHELL_SECONDS + " s");
        }
        // Not up to its end: the host has the pipe too until it has opened its log, on a disk that may be slow.
        String output = shell.inputReader(StandardCharsets.UTF_8).readLine();
        try {
            long pid = Long.parseLong(String.valueOf(output).trim());
            return ProcessHandle.of(pid).orElseThrow(() -> new IOException("The host ended at once; see " + log));
        } catch (NumberFormatException e) {
            throw new IOException("The shell could not start the host: exit status " + shell.exitValue(), e);
        }
    }

    private List<String> javaCommand() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmArguments);
        command.add("-cp");
        command.add(classPath());
        command.add(mainClass);
        command.addAll(arguments);
        return command;
    }

    /**
     * The class path, or the module path of a modular application, as the class path of a process that starts
     * elsewhere.
     */
    public static String classPath() {
        return Stream.of("java.class.path", "jdk.module.path")
                .map(name -> System.getProperty(name, ""))
                .flatMap(path -> Stream.of(path.split(File.pathSeparator)))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /**
     * Whether a JVM that is started with that class path finds that class; jars inside a jar, for one, it does not see.
     */
    static boolean finds(Class<?> type, String classPath) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        String here = source == null ? "" : String.valueOf(source.getLocation());
        List<URL> entries = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            URL url;
            try {
                url = Path.of(entry).toUri().toURL();
            } catch (MalformedURLException e) {
                throw new IllegalStateException("a file without a URL: " + entry, e);
            }
            if (url.toString().equals(here)) {
                return true; // as a rule, without opening each jar
            }
            entries.add(url);
        }
        // Class paths can stand in the manifests of jars, too.
        try (URLClassLoader loader =
                new URLClassLoader(entries.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            return loader.findResource(type.getName().replace('.', '/') + ".class") != null;
        } catch (IOException e) {
            return true; // only its end failed; a host that does not start is told of later
        }
    }

    /** The launcher's variables may hold secrets, and marks by which a supervisor ends its processes. */
    private static void keepOnly(Map<String, String> environment) {
        environment.keySet().removeIf(name -> !ENVIRONMENT.contains(name) && !name.startsWith("LC_"));
    }

    private void setAsideLargeLog() throws IOException {
        if (Files.exists(log) && Files.size(log) > LOG_LIMIT) {
            Files.move(log, log.resolveSibling(log.getFileName() + ".old"), StandardCopyOption.REPLACE_EXISTING);
        }
    }
}
