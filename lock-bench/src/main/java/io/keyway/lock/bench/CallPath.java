// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.MethodEntryEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.MethodEntryRequest;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The types of ours that one acquire of a free lock runs through, and its release: those of which a method or a
 * constructor was called meanwhile, in the order of their first call, as the debugger interface sees it. What only some
 * of several turns call (a heartbeat, a timer) is left out.
 */
final class CallPath {
    private static final String OURS = "io.keyway.lock.";
    private static final String BENCH = CallPath.class.getPackageName() + ".";

    /**
     * Nested types count beside the ones that they are in; a lambda belongs to the type that it is written in.
     *
     * @param acquire from the call of {@code tryAcquire} to its return
     * @param release the same of {@code release}
     */
    record Types(Set<String> acquire, Set<String> release) {}

    private final Types types = new Types(new LinkedHashSet<>(), new LinkedHashSet<>());
    private final Set<String> seen = new LinkedHashSet<>();
    private int turns;

    private CallPath() {}

    /** Runs {@link CallPathProgram} with that URL in a JVM of its own, and watches it. */
    static Types of(String url) throws Exception {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        argument(arguments, "options").setValue("-cp \"" + System.getProperty("java.class.path") + "\"");
        argument(arguments, "main").setValue(CallPathProgram.class.getName() + " \"" + url + "\"");
        VirtualMachine program = connector.launch(arguments);
        Process process = program.process();
        try {
            Thread errors = passOn(process.getErrorStream(), System.err);
            Thread output = passOn(process.getInputStream(), System.err);
            CallPath path = new CallPath();
            path.watch(program);
            errors.join();
            output.join();
            if (process.waitFor() != 0) {
                throw new IllegalStateException("The program that takes a lock at " + url + " failed");
            }
            return path.types;
        } finally {
            process.destroyForcibly();
        }
    }

    private static Connector.Argument argument(Map<String, Connector.Argument> arguments, String name) {
        return Objects.requireNonNull(arguments.get(name), name);
    }

    private void watch(VirtualMachine program) throws InterruptedException {
        MethodEntryRequest marks = program.eventRequestManager().createMethodEntryRequest();
        marks.addClassFilter(CallPathProgram.class.getName());
        marks.setSuspendPolicy(EventRequest.SUSPEND_ALL);
        marks.enable();
        MethodEntryRequest calls = program.eventRequestManager().createMethodEntryRequest();
        calls.addClassFilter(OURS + "*");
        calls.addClassExclusionFilter(BENCH + "*");
        calls.setSuspendPolicy(EventRequest.SUSPEND_NONE);
        try {
            program.resume();
            while (true) {
                EventSet events = program.eventQueue().remove();
                for (Event event : events) {
                    if (event instanceof VMDisconnectEvent) {
                        return;
                    }
                    if (event instanceof MethodEntryEvent entry) {
                        entered(entry, calls);
                    }
                }
                events.resume();
            }
        } catch (VMDisconnectedException e) {
            // The program has ended.
        }
    }

    private void entered(MethodEntryEvent entry, MethodEntryRequest calls) {
        String type = entry.location().declaringType().name();
        if (!type.startsWith(BENCH)) {
            if (!entry.method().name().equals("<clinit>") && !type.contains("$$Lambda")) {
                seen.add(type);
            }
            return;
        }
        if (!entry.method().name().equals("mark")) {
            return;
        }
        switch (mark(entry)) {
            case CallPathProgram.ACQUIRES -> calls.enable();
            case CallPathProgram.HOLDS -> {
                keep(types.acquire());
                calls.enable();
            }
            case CallPathProgram.HAS_RELEASED -> {
                keep(types.release());
                calls.disable();
                turns++;
            }
            default -> throw new IllegalStateException("No such mark");
        }
    }

    private static int mark(MethodEntryEvent entry) {
        try {
            return ((IntegerValue) entry.thread().frame(0).getArgumentValues().get(0)).value();
        } catch (Exception e) {
            throw new IllegalStateException("The program's mark cannot be read", e);
        }
    }

    private void keep(Set<String> types) {
        if (turns == 0) {
            types.addAll(seen);
        } else {
            types.retainAll(seen);
        }
        seen.clear();
    }

    private static Thread passOn(InputStream from, OutputStream to) {
        Thread thread = new Thread(
                () -> {
                    try {
                        from.transferTo(to);
                    } catch (java.io.IOException e) {
                        // The program has ended.
                    }
                },
                "program-output");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
