// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.LockUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Whether the locks of a machine are at rest: for whoever only looks, and would not start a host for that. */
public final class LocalRest {
    private LocalRest() {}

    /**
     * True if nobody hosts the locks of this URL and no process lives that could hold one or wait for one; false where that is
     * not known, and for URLs that are not about the processes of one machine.
     *
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used, with the reason
     */
    public static boolean of(LockUrl url, Map<String, String> environment) {
        Optional<Path> chosen = LocalGuard.directory(url, environment);
        if (chosen.isEmpty() || !url.hosts().isEmpty()) {
            return false;
        }
        LocalDirectory directory = LocalDirectory.open(chosen.get(), new SystemFacts());
        Path clients = directory.path().resolve(LocalDirectory.CLIENTS);
        if (!Files.exists(clients) && !Files.exists(directory.path().resolve(Arbiter.LOCK))) {
            return true; // never used
        }
        if (directory.arbiter().tryHost() instanceof Arbiter.Hosting hosting) {
            // Asked while nobody can begin to host: who comes meanwhile holds nothing yet.
            try (hosting) {
                return !Files.exists(clients) || ByteLocks.open(clients).others(Set.of()) == ByteLocks.Others.NONE;
            }
        }
        return false;
    }
}
