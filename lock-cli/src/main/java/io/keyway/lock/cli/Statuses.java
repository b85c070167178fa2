// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.IncompleteListingException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of locks.
 *
 * @param found those that are held or waited for
 * @param missing the servers of whose locks nothing is known, each with the reason, as {@code a:7400: no answer}
 */
record Statuses(List<LockStatus> found, List<String> missing) {
    static final Statuses NONE = new Statuses(List.of(), List.of());

    private static final int PAGE = 500;

    /** Whether that entry of {@link #missing} is about that server. */
    static boolean isAbout(String missing, String server) {
        return missing.startsWith(server + ": ");
    }

    /** Why nothing is known of the locks of that server; empty if it has answered. */
    Optional<String> missing(String server) {
        return missing.stream()
                .filter(why -> isAbout(why, server))
                .map(why -> why.substring(server.length() + 2))
                .findFirst();
    }

    /** All of them, or the lock and the semaphore of one name. */
    static Statuses of(LockClient client, @Nullable LockName name) throws InterruptedException {
        List<LockStatus> found = new ArrayList<>();
        if (name != null) {
            client.admin().show(LockKey.lock(name)).ifPresent(found::add);
            client.admin().show(LockKey.semaphore(name)).ifPresent(found::add);
            return new Statuses(found, List.of());
        }
        Set<String> missing = new LinkedHashSet<>();
        Optional<String> after = Optional.empty();
        do {
            LockPage page = page(client, after, missing);
            found.addAll(page.locks());
            after = page.next();
        } while (after.isPresent());
        return new Statuses(found, List.copyOf(missing));
    }

    private static LockPage page(LockClient client, Optional<String> after, Set<String> missing)
            throws InterruptedException {
        try {
            return client.admin().list("", after, PAGE);
        } catch (IncompleteListingException e) {
            missing.addAll(e.missing());
            return e.page().orElseThrow(() -> e);
        }
    }
}
