// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import io.keyway.lock.peer.local.HostLauncher;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One supervisor as keyway sees it: a child process and the two pipes to it. */
final class SupervisorProcess {
    private static final String IGNORING = "trap '' INT TERM HUP QUIT TSTP TTIN TTOU; exec \"$@\"";

    private final Process process;
    private final OutputStream out;
    private final BufferedReader in;

    private SupervisorProcess(Process process) {
        this.process = process;
        this.out = process.getOutputStream();
        this.in = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static SupervisorProcess start(String mark) throws IOException {
        List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", IGNORING, "keyway-supervisor"));
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-Xrs", "-Xmx32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        words.addAll(List.of("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error,cds=off:stderr"));
        String archive = System.getProperty("keyway.archive");
        if (archive != null) {
            words.add("-XX:SharedArchiveFile=" + archive);
        }
        words.addAll(List.of("-cp", HostLauncher.classPath(), Supervisor.class.getName(), mark));
        ProcessBuilder builder = new ProcessBuilder(words);
        // It must not keep a file system busy that the command may want to unmount.
        builder.directory(new File("/"));
        builder.environment().put(CommandProcesses.SUPERVISOR, "1");
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        return new SupervisorProcess(builder.start());
    }

    long pid() {
        return process.pid();
    }

    /** Sends one line; blocks when the supervisor does not read, throws when it is gone. */
    void send(String line) throws IOException {
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** The words of the next line from the supervisor; null when it is gone. */
    String @Nullable [] receive() {
        try {
            String line = in.readLine();
            return line == null ? null : line.split(" ", 2);
        } catch (IOException e) {
            return null;
        }
    }

    /** Ends its input, which it takes for keyway's death, and lets go of it. */
    void hangUp() {
        try {
            out.close();
        } catch (IOException e) {
            // It is gone already.
        }
    }
}
