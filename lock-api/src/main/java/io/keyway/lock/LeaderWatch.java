// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An observer of an election: watches its lock, and tells how the leader has changed. */
final class LeaderWatch {
    private final LockName election;
    private final EventLine line;
    private volatile boolean closed;
    private @Nullable Candidate told;
    private boolean uncertain;

    private LeaderWatch(ElectionLock election, ElectionListener listener) {
        this.election = election.name();
        this.line = new EventLine(election.services(), event -> {
            if (!closed) {
                listener.onEvent(event);
            }
        });
    }

    static Subscription begin(ElectionLock election, ElectionListener listener, Duration every) {
        LeaderWatch watch = new LeaderWatch(election, listener);
        Subscription lock = QueueWatch.begin(election.services(), LockKey.lock(election.name()), every, watch::see);
        return () -> {
            lock.close();
            watch.closed = true;
        };
    }

    /** One at a time. */
    private void see(LockSnapshot now) {
        if (now.certain()) {
            see(ElectionLock.leader(ElectionLock.candidates(now.status())));
        } else {
            doubt();
        }
    }

    private void see(Optional<Candidate> leader) {
        Candidate before = told;
        Candidate now = leader.orElse(null);
        boolean same = before != null
                && now != null
                && before.name().equals(now.name())
                && (before.token().isEmpty()
                        || now.token().isEmpty()
                        || before.token().equals(now.token()));
        if (before != null && !same) {
            put(ElectionEvent.Type.SURRENDERED, before);
        } else if (before != null && uncertain) {
            put(ElectionEvent.Type.CERTAIN, before);
        }
        uncertain = false;
        told = now;
        if (now != null && !same) {
            put(ElectionEvent.Type.ELECTED, now);
        }
    }

    private void doubt() {
        if (told != null && !uncertain) {
            uncertain = true;
            put(ElectionEvent.Type.UNCERTAIN, told);
        }
    }

    private void put(ElectionEvent.Type type, Candidate about) {
        line.put(new ElectionEvent(type, election, about.name(), about.token(), Optional.empty()));
        line.tell();
    }
}
