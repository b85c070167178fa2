// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks for the state of locks. */
final class Statuses {
    private static final int PAGE = 500;

    private Statuses() {}

    /** All of them, or the lock and the semaphore of one name. */
    static List<LockStatus> of(LockClient client, @Nullable LockName name) throws InterruptedException {
        List<LockStatus> found = new ArrayList<>();
        if (name != null) {
            client.admin().show(LockKey.lock(name)).ifPresent(found::add);
            client.admin().show(LockKey.semaphore(name)).ifPresent(found::add);
            return found;
        }
        Optional<String> after = Optional.empty();
        do {
            LockPage page = client.admin().list("", after, PAGE);
            found.addAll(page.locks());
            after = page.next();
        } while (after.isPresent());
        return found;
    }
}
