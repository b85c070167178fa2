// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The process table of Linux, read from {@code /proc} (proc(5)). */
final class ProcTable implements ProcessTable {
    private static final byte[] NOTHING = new byte[0];

    @Override
    public List<ProcessEntry> all() {
        List<ProcessEntry> entries = new ArrayList<>();
        String[] names = new File("/proc").list();
        if (names == null) {
            return entries;
        }
        for (String name : names) {
            if (name.charAt(0) >= '1' && name.charAt(0) <= '9') {
                ProcessEntry entry = find(Long.parseLong(name));
                if (entry != null) {
                    entries.add(entry);
                }
            }
        }
        return entries;
    }

    @Override
    public @Nullable ProcessEntry find(long pid) {
        return parse(pid, new String(read(pid, "/stat"), StandardCharsets.ISO_8859_1));
    }

    @Override
    public byte[] environment(long pid) {
        return read(pid, "/environ");
    }

    /**
     * Fields of {@code stat}: 1 pid, 2 (name), 3 state, 4 parent, 22 start in clock ticks since boot. The name may hold
     * spaces and brackets, so fields are counted from the last bracket.
     */
    static @Nullable ProcessEntry parse(long pid, String stat) {
        int open = stat.indexOf('(');
        int close = stat.lastIndexOf(')');
        if (open < 0 || close < open) {
            return null;
        }
        String[] fields = stat.substring(close + 2).trim().split(" ", -1);
        if (fields.length < 20) {
            return null;
        }
        char state = fields[0].charAt(0);
        if (state == 'Z' || state == 'X' || state == 'x') {
            return null;
        }
        return new ProcessEntry(
                pid, Long.parseLong(fields[1]), Long.parseLong(fields[19]), stat.substring(open + 1, close));
    }

    private static byte[] read(long pid, String file) {
        try (FileInputStream in = new FileInputStream("/proc/" + pid + file)) {
            return in.readAllBytes();
        } catch (IOException goneOrForeign) {
            return NOTHING;
        }
    }
}
