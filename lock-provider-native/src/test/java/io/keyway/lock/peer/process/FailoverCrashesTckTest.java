// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
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

    private ThreeMembers members;
    private CrashingFollowers followers;

    @Override
    protected TckSubject subject() throws Exception {
        members = new ThreeMembers(directory, "failover");
        followers = new CrashingFollowers(members);
        return TckSubject.of(members.url())
                .withServer(followers::killLeader, followers::restartLeader)
                .withPause(followers::pauseLeader, followers::resumeLeader);
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }

    @AfterEach
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void endTheMembers() throws Exception {
        try (ThreeMembers ending = members) {
            followers.close();
            System.out.println("followers were killed " + followers.kills() + " times");
            assertThat(followers.kills()).isGreaterThan(KILLS);
            assertThat(ending.seats())
                    .allSatisfy(seat -> assertThat(seat.runs()).isTrue());
        }
    }
}
