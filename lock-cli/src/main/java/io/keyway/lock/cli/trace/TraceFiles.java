// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import io.keyway.lock.peer.trace.TraceFile;
import io.keyway.lock.peer.trace.TraceLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads what processes wrote down: pages that members answered with, and files. */
public final class TraceFiles {
    private final Map<String, Recorded> byId = new LinkedHashMap<>();

    /** Reads nothing yet. */
    public TraceFiles() {}

    /**
     * Adds all traces of a directory, or one file.
     *
     * @return how many files there were
     * @throws IOException if one cannot be read, or is none
     */
    public int read(Path path) throws IOException {
        List<Path> files = new ArrayList<>();
        if (Files.isDirectory(path)) {
            try (Stream<Path> all = Files.list(path)) {
                all.filter(TraceFiles::isTrace).sorted().forEach(files::add);
            }
        } else {
            files.add(path);
        }
        for (Path file : files) {
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            if (!text.startsWith(TraceLog.FORMAT)) {
                throw new IOException("it is no trace, which begins with " + TraceLog.FORMAT);
            }
            add(text);
        }
        return files.size();
    }

    private static boolean isTrace(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(TraceFile.SUFFIX) || name.endsWith(TraceFile.SUFFIX + ".1");
    }

    /** Adds lines; those of one page, or file, or several after each other. */
    public void add(String text) {
        @Nullable Recorded of = null;
        for (String line : (Iterable<String>) text.lines()::iterator) {
            List<String> fields = List.of(line.split("\t", -1));
            if (fields.get(0).equals(TraceLog.FORMAT) && fields.size() >= 6) {
                boolean member = fields.get(2).equals("member");
                String name = fields.get(3);
                of = byId.computeIfAbsent(fields.get(1), fresh -> new Recorded(member, name));
                of.heard(Recorded.parsed(fields.get(5)));
            } else if (of != null) {
                of.take(fields);
            }
        }
    }

    List<Recorded> processes() {
        return new ArrayList<>(byId.values());
    }

    /** True if nobody has written down anything. */
    public boolean isEmpty() {
        return byId.values().stream().allMatch(each -> each.entries().isEmpty());
    }
}
