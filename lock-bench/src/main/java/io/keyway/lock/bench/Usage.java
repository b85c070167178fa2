// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What processes have used so far.
 *
 * @param processor the time of all their processors
 * @param switches how often their threads have waited, or {@link #NOT_TOLD} by this system
 */
record Usage(Duration processor, long switches) {
    static final long NOT_TOLD = -1;

    private static final String SWITCHES = "voluntary_ctxt_switches:";

    /** Of those processes and of all that they have started. */
    static Usage of(List<ProcessHandle> processes) {
        Duration processor = Duration.ZERO;
        long switches = Files.isDirectory(Path.of("/proc/self/task")) ? 0 : NOT_TOLD;
        for (ProcessHandle root : processes) {
            List<ProcessHandle> family =
                    Stream.concat(Stream.of(root), root.descendants()).toList();
            for (ProcessHandle each : family) {
                processor = processor.plus(each.info().totalCpuDuration().orElse(Duration.ZERO));
                if (switches != NOT_TOLD) {
                    switches += switches(each.pid());
                }
            }
        }
        return new Usage(processor, switches);
    }

    /** Since an earlier time. */
    Usage since(Usage before) {
        return new Usage(
                processor.minus(before.processor), switches == NOT_TOLD ? NOT_TOLD : switches - before.switches);
    }

    private static long switches(long pid) {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads) {
                sum += ofThread(thread.resolve("status"));
            }
        } catch (IOException e) {
            // It has ended meanwhile.
        }
        return sum;
    }

    private static long ofThread(Path status) {
        try (Stream<String> lines = Files.lines(status)) {
            return lines.filter(line -> line.startsWith(SWITCHES))
                    .mapToLong(line ->
                            Long.parseLong(line.substring(SWITCHES.length()).trim()))
                    .sum();
        } catch (IOException | java.io.UncheckedIOException e) {
            return 0; // it has ended meanwhile
        }
    }
}
