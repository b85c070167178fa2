// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberSettings;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.SystemFacts;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Authenticator;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where the processes of this machine meet, and what they agree on.
 *
 * @param bytes of clients.lock: who locks one lives
 * @param settings of the member, for its file
 * @param cells with the settings of this place
 * @param connectTimeout after which a host that does not answer is an error
 */
record LocalConfig(
        LocalDirectory directory,
        ByteLocks bytes,
        MemberSettings settings,
        MachineFacts facts,
        Cells cells,
        Duration connectTimeout) {
    static final String NODE = "local";
    static final String CLUSTER = "local";

    /**
     * Opens the directory, which is made if it is missing.
     *
     * @throws io.keyway.lock.LockUnavailableException if it cannot be used, with the reason
     */
    static LocalConfig of(Path path, Duration maxTtl, Algorithm algorithm, Duration connectTimeout) {
        return of(path, maxTtl, algorithm, connectTimeout, new SystemFacts());
    }

    /** As {@link #of(Path, Duration, Algorithm, Duration)}, on a machine of which these are the facts. */
    static LocalConfig of(
            Path path, Duration maxTtl, Algorithm algorithm, Duration connectTimeout, MachineFacts facts) {
        LocalDirectory directory = LocalDirectory.open(path, facts);
        Cells cells = new Cells(CLUSTER, maxTtl, algorithm, Authenticator.none());
        MemberSettings unbound = new MemberSettings(
                CLUSTER, NODE, cells.membersHash(), cells.settingsHash(), maxTtl, algorithm.id(), "");
        ByteLocks bytes = directory.clients(facts, unbound);
        return new LocalConfig(directory, bytes, unbound.withLockFile(bytes.fileKey()), facts, cells, connectTimeout);
    }

    /**
     * The same place after its clients.lock was removed or replaced. It is no first use, even if nothing is left:
     * whoever hosts next waits.
     *
     * @throws io.keyway.lock.LockUnavailableException if it cannot be used yet, with what to do
     */
    LocalConfig anew() {
        LocalDirectory again = LocalDirectory.open(directory.path(), facts);
        ByteLocks fresh = again.clientsAgain();
        return new LocalConfig(again, fresh, settings.withLockFile(fresh.fileKey()), facts, cells, connectTimeout);
    }

    /** Who hosts, in words, since nobody answers there. */
    String taken(String why) {
        return directory
                .election()
                .info()
                .map(info ->
                        info + " hosts and does not answer: is it stopped, being debugged, or in another container? ("
                                + why + ")")
                .orElse("another process starts to host (" + why + ")");
    }

    /** Whether the bytes that its clients lock are those of the file that others find there. */
    boolean stands() {
        return bytes.sameFile();
    }
}
