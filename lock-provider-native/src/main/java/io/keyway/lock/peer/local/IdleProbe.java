// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberFileReader;
import io.keyway.lock.peer.member.StoredRecord;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.SystemFacts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Whether the locks of a machine are at rest: for whoever only looks, and would not start a host for that. */
public final class IdleProbe {
    private IdleProbe() {}

    /** What is to be found where nobody hosts. */
    private enum Found {
        NOTHING,
        /**
         * Locks that are kept for the rest of the time for which they were to be held at least, and no process that
         * could hold any.
         */
        KEPT,
        UNKNOWN
    }

    /**
     * True if nobody hosts the locks of this URL, no process lives that could hold one or wait for one, and none is
     * kept for nobody; false where that is not known, and for URLs that are not about the processes of one machine.
     *
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used, with the reason
     */
    public static boolean of(LockUrl url, Map<String, String> environment) {
        return look(url, environment) == Found.NOTHING;
    }

    /**
     * True if nobody hosts the locks of this URL and no process lives that would, but some may be kept for nobody:
     * whoever wants to see them has to host.
     *
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used, with the reason
     */
    public static boolean keeps(LockUrl url, Map<String, String> environment) {
        return look(url, environment) == Found.KEPT;
    }

    private static Found look(LockUrl url, Map<String, String> environment) {
        Optional<Path> chosen = LocalGuard.directory(url, environment);
        if (chosen.isEmpty() || !url.hosts().isEmpty()) {
            return Found.UNKNOWN;
        }
        MachineFacts facts = new SystemFacts();
        LocalDirectory directory = LocalDirectory.open(chosen.get(), facts);
        Path clients = directory.path().resolve(LocalDirectory.CLIENTS);
        if (!Files.exists(clients) && !Files.exists(directory.path().resolve(HostElection.LOCK))) {
            return Found.NOTHING; // never used
        }
        if (directory.election().tryHost() instanceof HostElection.Hosting hostLock) {
            // Asked while nobody can begin to host: who comes meanwhile holds nothing yet.
            try (hostLock) {
                if (!Files.exists(clients)) {
                    return Found.NOTHING;
                }
                boolean nobody = ByteLocks.open(clients).others(Set.of()) == ByteLocks.Others.NONE;
                Optional<StoredRecord> keeper = MemberFileReader.keeper(directory.memberFile(), facts);
                if (!nobody || keeper.isEmpty()) {
                    return nobody ? Found.NOTHING : Found.UNKNOWN;
                }
                // A host with another setting would keep those away that have the former one.
                Optional<Duration> maxTtl = url.option(NativeOptions.MAX_TTL).or(NativeOptions.MAX_TTL::defaultValue);
                return maxTtl.equals(Optional.of(keeper.get().settings().maxTtl())) ? Found.KEPT : Found.UNKNOWN;
            }
        }
        return Found.UNKNOWN;
    }
}
