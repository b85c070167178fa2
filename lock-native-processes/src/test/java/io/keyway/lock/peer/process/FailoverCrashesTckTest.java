// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import io.keyway.lock.tck.process.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * All of the kit on three members of which one leads, while the two others are killed and started again in turn, which
 * nobody may notice. Where a check crashes the server, or stops it, that is the leader.
 */
@Tag("soak")
class FailoverCrashesTckTest extends LockTck {
    /** Fewer would be no test: it takes minutes. */
    private static final int KILLS = 20;

    @TempDir
    private Path directory;

    private ChildJvm program;

    @Override
    protected TckSubject subject() throws Exception {
        program = ChildJvm.start(CrashingFollowersProgram.class, directory.toString());
        return TckSubject.of(program.await("url"))
                .withServer(tell(CrashingFollowersProgram.KILL), tell(CrashingFollowersProgram.RESTART))
                .withPause(tell(CrashingFollowersProgram.PAUSE), tell(CrashingFollowersProgram.RESUME));
    }

    private TckSubject.Control tell(String what) {
        return () -> program.ask(what, "done");
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }

    @AfterEach
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void endTheMembers() throws Exception {
        try (ChildJvm ending = program) {
            int kills = Integer.parseInt(ending.ask(CrashingFollowersProgram.END, "kills"));
            System.out.println("followers were killed " + kills + " times");
            assertThat(kills).isGreaterThan(KILLS);
        }
    }
}
