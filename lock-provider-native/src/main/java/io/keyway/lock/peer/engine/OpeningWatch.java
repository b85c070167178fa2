// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What one member last said of the time at which it grants. Asked by any thread, told by one. */
public final class OpeningWatch {
    private record Said(WelcomeInfo greeting, long openAt) {}

    private volatile @Nullable Said said;

    /** The member's last greeting, again and again. */
    @SuppressWarnings("ReferenceEquality") // each welcome counts, also one that says the same
    public void greeted(@Nullable WelcomeInfo greeting, long now) {
        Said known = said;
        if (greeting != null && (known == null || known.greeting() != greeting)) {
            said = new Said(greeting, now + greeting.quarantine());
        }
    }

    /** The member as long as it grants nothing. */
    public Optional<Opening> opening(String server, long now) {
        Said known = said;
        if (known == null || known.greeting().quarantine() == 0 || known.openAt() - now <= 0) {
            return Optional.empty();
        }
        return Optional.of(new Opening(
                server, Duration.ofNanos(known.openAt() - now), known.greeting().fresh()));
    }

    /** Why a request waits though nobody holds the lock, with the time that is left, if that is known. */
    public Optional<String> why(LockNotice.Trouble told, String server, long now) {
        boolean opens = told.closed() && told.why().equals(RefusalCause.OPENING.why());
        return opens ? opening(server, now).map(Opening::toString) : Optional.empty();
    }
}
