// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutablesTest {
    @TempDir
    private Path directory;

    @Test
    void whatIsWrittenRunsAtOnceWhileOtherThreadsStartProcesses() throws Exception {
        AtomicBoolean written = new AtomicBoolean();
        ExecutorService others = Executors.newFixedThreadPool(2);
        try {
            List<Future<Void>> starts = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                starts.add(others.submit(() -> {
                    while (!written.get()) {
                        run("true");
                    }
                    return null;
                }));
            }
            for (int i = 0; i < 100; i++) {
                Path script = Executables.script(directory.resolve("script" + i), "exit 3");

                assertThat(run(script.toString())).isEqualTo(3);
            }
            written.set(true);
            for (Future<Void> start : starts) {
                start.get();
            }
        } finally {
            written.set(true);
            others.shutdown();
        }
    }

    private static int run(String command) throws Exception {
        return new ProcessBuilder(command).start().waitFor();
    }
}
