// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The processes of one command: the command itself, its descendants, whatever carries the mark of this run in its
 * environment, and whatever was one of these at an earlier look.
 *
 * <p>Neither the tree nor the mark is enough. A daemon leaves the tree when its parent ends, but it keeps the
 * environment that it was started with; a program that clears the environment of its children is still their ancestor.
 * Only a program that does both, before anybody looked, escapes.
 *
 * <p>Thread-safe.
 */
public final class CommandProcesses {
    /**
     * Whoever has this variable in its environment belongs to no command, like a member that serves other clients too.
     */
    public static final String DETACHED = "KEYWAY_DETACHED";

    /** The supervisor of a run inside of this one has it; it is ended after all others, for it guards some of them. */
    static final String SUPERVISOR = "KEYWAY_SUPERVISOR";

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LAST_PAUSE_NANOS = 64_000_000;

    private final ProcessTable table;
    private final long self;
    private final byte[] mark;
    private final byte[] detached;
    private final byte[] supervisor;
    private final List<ProcessEntry> known = new ArrayList<>();

    /** {@code mark} is the name of the environment variable that only this run's command has. */
    public CommandProcesses(String mark) {
        this(mark, tableOfThisMachine(), ProcessHandle.current().pid());
    }

    /** The table of this machine: {@code /proc} where there is one, else what {@link ProcessHandle} knows. */
    static ProcessTable tableOfThisMachine() {
        return new File("/proc/self/stat").exists() ? new ProcTable() : new HandleTable();
    }

    CommandProcesses(String mark, ProcessTable table, long self) {
        this.table = table;
        this.self = self;
        this.mark = variable(mark);
        this.detached = variable(DETACHED);
        this.supervisor = variable(SUPERVISOR);
    }

    /** The process that was started as the command. */
    public synchronized void startedAs(long pid) {
        ProcessEntry entry = table.find(pid);
        if (entry != null) {
            known.add(entry);
        }
    }

    /** Those that run now, supervisors of inner runs left out. */
    public List<ProcessEntry> running() {
        return split(false);
    }

    /** Asks each to end (SIGTERM). */
    public void terminate() {
        for (ProcessEntry entry : running()) {
            signal(entry, false);
        }
    }

    /** Kills each (SIGKILL); to be repeated until none is left, as the ones not yet killed may have started others. */
    public int kill() {
        List<ProcessEntry> victims = running();
        if (victims.isEmpty()) {
            victims = split(true);
        }
        for (ProcessEntry entry : victims) {
            signal(entry, true);
        }
        return victims.size();
    }

    /** Kills until nothing is left, which a process that cannot be killed makes last; true if there was anything. */
    public boolean killAll() throws InterruptedException {
        long pause = FIRST_PAUSE_NANOS;
        boolean any = false;
        while (kill() > 0) {
            any = true;
            CommandClock.SYSTEM.pause(pause);
            pause = Math.min(2 * pause, LAST_PAUSE_NANOS);
        }
        return any;
    }

    private synchronized List<ProcessEntry> split(boolean supervisors) {
        List<ProcessEntry> found = new ArrayList<>();
        for (ProcessEntry entry : look()) {
            if (contains(table.environment(entry.pid()), supervisor) == supervisors) {
                found.add(entry);
            }
        }
        return found;
    }

    private List<ProcessEntry> look() {
        List<ProcessEntry> others = new ArrayList<>();
        List<ProcessEntry> found = new ArrayList<>();
        for (ProcessEntry entry : table.all()) {
            if (entry.pid() == self) {
                continue;
            }
            byte[] environment = table.environment(entry.pid());
            if (contains(environment, detached)) {
                continue;
            }
            if (wasKnown(entry) || contains(environment, mark)) {
                found.add(entry);
            } else {
                others.add(entry);
            }
        }
        for (int i = 0; i < found.size(); i++) {
            long parent = found.get(i).pid();
            for (int j = others.size() - 1; j >= 0; j--) {
                if (others.get(j).parent() == parent) {
                    found.add(others.remove(j));
                }
            }
        }
        known.clear();
        known.addAll(found);
        return found;
    }

    private boolean wasKnown(ProcessEntry entry) {
        for (ProcessEntry earlier : known) {
            if (earlier.sameAs(entry)) {
                return true;
            }
        }
        return false;
    }

    private void signal(ProcessEntry entry, boolean force) {
        Optional<ProcessHandle> handle = ProcessHandle.of(entry.pid());
        ProcessEntry now = table.find(entry.pid());
        // The handle remembers a start of its own, so a process that takes this pid from here on is not hit.
        if (handle.isEmpty() || now == null || !now.sameAs(entry)) {
            return;
        }
        if (force) {
            handle.get().destroyForcibly();
        } else {
            handle.get().destroy();
        }
    }

    private static byte[] variable(String name) {
        return (name + "=").getBytes(StandardCharsets.UTF_8);
    }

    private static boolean contains(byte[] environment, byte[] variable) {
        for (int i = 0; i + variable.length <= environment.length; i++) {
            if ((i == 0 || environment[i - 1] == 0) && startsAt(environment, i, variable)) {
                return true;
            }
        }
        return false;
    }

    private static boolean startsAt(byte[] environment, int at, byte[] variable) {
        for (int i = 0; i < variable.length; i++) {
            if (environment[at + i] != variable[i]) {
                return false;
            }
        }
        return true;
    }
}
