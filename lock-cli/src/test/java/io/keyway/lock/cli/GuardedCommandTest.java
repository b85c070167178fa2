// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.supervisor.CommandClock;
import io.keyway.lock.cli.supervisor.Supervision;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command whose keyway fails in the midst of it. */
class GuardedCommandTest {
    @TempDir
    Path directory;

    @Test
    void aCommandIsEndedBeforeItsLockIsGivenBackWhateverFails() throws Exception {
        Path said = directory.resolve("pid");
        List<Boolean> ranAtRelease = new ArrayList<>();
        try (LockClient client = Locks.open("lock:native:mem://guarded");
                Supervision supervision = Supervision.begin()) {
            Lease held = client.lock("n").acquire();
            Lease failing = lease((method, otherwise) -> {
                if (method.equals("lost")) {
                    Awaitility.await().until(() -> Files.exists(said) && Files.size(said) > 0);
                    throw new OutOfMemoryError("unable to create native thread");
                }
                if (Set.of("close", "release").contains(method)) {
                    ranAtRelease.add(runs(said));
                }
                return otherwise.of(held);
            });
            CommandLineWords words = new CommandLineWords(
                    List.of("sh", "-c", "echo $$ >'" + said + "'; trap '' TERM; while :; do sleep 1; done"));
            PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
            Console console = new Console(nowhere, nowhere, false, false, Map.of(), CommandClock.SYSTEM);
            Signals signals = new Signals(number -> {});

            assertThatThrownBy(
                            () -> new GuardedCommand(console, words, HeldLocks.of(failing), supervision, signals).run())
                    .isInstanceOf(OutOfMemoryError.class);

            assertThat(ranAtRelease).containsExactly(false);
            assertThat(held.isHeld()).isFalse();
        } finally {
            ProcessHandle.of(pid(said)).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private static long pid(Path said) throws IOException {
        return Long.parseLong(Files.readString(said).strip());
    }

    private static boolean runs(Path said) throws IOException {
        return ProcessHandle.of(pid(said)).map(ProcessHandle::isAlive).orElse(false);
    }

    private interface Otherwise {
        Object of(Lease lease) throws Throwable;
    }

    private interface Call {
        Object made(String method, Otherwise otherwise) throws Throwable;
    }

    private static Lease lease(Call call) {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (self, method, arguments) -> call.made(method.getName(), lease -> method.invoke(lease, arguments)));
    }
}
