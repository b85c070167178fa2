// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.SystemFacts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A member that promises leases of 30 s, says "forced", and ends in order when it is told anything. */
final class MemberProcess {
    static final MemberSettings SETTINGS = new MemberSettings("local", "host", 1, 2, Duration.ofSeconds(60), 1, "");

    private MemberProcess() {}

    @SuppressWarnings("SystemOut") // the line protocol of this process
    public static void main(String[] args) throws IOException {
        SystemFacts facts = new SystemFacts();
        try (MemberFile file = MemberFile.open(Path.of(args[0]), facts, SETTINGS)) {
            MemberRecord record = new MemberRecord(
                    file.nextEpoch(0),
                    Duration.ofSeconds(30).toNanos(),
                    BootClock.horizon(facts, Duration.ofSeconds(30).toNanos()));
            long took;
            do { // on a machine that stood still meanwhile, the change time is rightly not trusted
                long start = System.nanoTime();
                file.force(record);
                took = System.nanoTime() - start;
            } while (took > 500_000_000L);
            System.out.println("forced " + record.epoch());
            if (System.in.read() >= 0) {
                System.out.println("clean " + file.forceClean(record, List.of(new byte[] {7})));
            }
        }
    }
}
