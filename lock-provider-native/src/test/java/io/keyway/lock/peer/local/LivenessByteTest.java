// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.member.LocalDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LivenessByteTest {
    @TempDir
    Path directory;

    @Test
    void anErrorOfTheMachineEndsNoCheckAndIsTakenForTheLossOfTheByte() throws Exception {
        Path locks = directory.resolve("locks");
        LocalConfig place = LocalConfig.of(locks, Duration.ofSeconds(2), Algorithms.standard(), Duration.ofSeconds(5));
        LivenessByte life = new LivenessByte("c", place, 0);
        life.take();
        Files.delete(locks.resolve(LocalDirectory.CLIENTS));
        List<Input> told = new ArrayList<>();
        boolean[] first = {true};
        life.check(input -> {
            if (first[0]) {
                first[0] = false;
                throw new StackOverflowError("too deep");
            }
            told.add(input);
        });
        assertThat(told).hasSize(1).allMatch(Input.Reborn.class::isInstance);
        life.end();
    }
}
