// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** An election over the lock of its name: a name, options and who is to stand, nothing else. */
final class FencedElection implements Election {
    private static final Logger LOG = System.getLogger(FencedElection.class.getName());

    private final ElectionLock lock;

    private FencedElection(ElectionLock lock) {
        this.lock = lock;
    }

    static Election of(LockClient client, LockName name) {
        int most = LockName.MAX_BYTES - HandOver.SUFFIX.getBytes(StandardCharsets.UTF_8).length;
        if (name.bytes() > most) {
            throw new IllegalArgumentException("The name of the election is " + name.bytes()
                    + " bytes long in UTF-8; " + most + " leave room for the lock of a hand-over. Give it a shorter"
                    + " one than " + name + ".");
        }
        ElectionLock.Uses uses = new ElectionLock.Uses(
                client.name(),
                client::lock,
                client::lock,
                client::addListener,
                key -> client.admin().show(key),
                client.features(),
                client.unwrap(ClientServices.class),
                client.url().toString());
        return new FencedElection(new ElectionLock(uses, name, LockOptions.none(), null));
    }

    @Override
    public LockName name() {
        return lock.name();
    }

    @Override
    public Election with(LockOptions upper) {
        return new FencedElection(lock.with(upper));
    }

    @Override
    public Election as(String other) {
        if (other.isEmpty()) {
            throw new IllegalArgumentException("A candidate of " + name() + " has a name, which cannot be empty.");
        }
        return new FencedElection(lock.as(other));
    }

    @Override
    public Election at(NodeSet nodes) {
        return new FencedElection(lock.at(nodes));
    }

    @Override
    public Candidacy stand(ElectionListener listener) {
        return Standing.begin(lock, listener);
    }

    @Override
    public Candidacy stand() {
        return Standing.begin(lock, EventLine.NOBODY);
    }

    @Override
    public Subscription observe(ElectionListener listener, Duration every) {
        if (every.isNegative() || every.isZero()) {
            throw new IllegalArgumentException(
                    "An observer of " + name() + " asks after more than no time, not " + every);
        }
        lock.requireList();
        return LeaderWatch.begin(lock, listener, every);
    }

    @Override
    public Optional<Candidate> leader() throws InterruptedException {
        return lock.leader();
    }

    @Override
    public List<Candidate> candidates() throws InterruptedException {
        return lock.candidates();
    }

    /** Interrupts a thread at the loss of what it works under, and not later. */
    private static final class Alarm {
        private final Thread worker = Thread.currentThread();
        private boolean working = true;
        private boolean rung;
        /** Somebody else had interrupted the thread, which had not seen it when the alarm rang. */
        private boolean interrupted;

        synchronized void ring() {
            if (working && !rung) {
                rung = true;
                interrupted = worker.isInterrupted();
                worker.interrupt();
            }
        }

        /** The work has ended: the interrupt was for it, and that of somebody else was not. */
        synchronized void end() {
            working = false;
            if (rung) {
                Thread.interrupted();
            }
            if (interrupted) {
                worker.interrupt();
            }
        }
    }

    @Override
    public <T, X extends Exception> T lead(LockedFunction<T, X> work) throws X, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before standing for " + name());
        }
        try (Standing standing = Standing.begin(lock, EventLine.NOBODY)) {
            while (true) {
                Lease lease = await(standing);
                Alarm alarm = new Alarm();
                lease.lost().thenAccept(loss -> alarm.ring());
                try {
                    T result = work.apply(lease);
                    alarm.end();
                    if (!isLost(lease)) {
                        return result;
                    }
                } catch (Throwable failure) {
                    alarm.end();
                    if (failure instanceof Error || !isLost(lease)) {
                        throw failure;
                    }
                    LOG.log(Level.DEBUG, "The work of " + standing + " ended with its leadership", failure);
                }
                standing.workEnded();
            }
        }
    }

    private static boolean isLost(Lease lease) {
        return lease.state() == Lease.State.LOST;
    }

    /** Waits for a leadership that has not ended by then, and under which work begins. */
    private Lease await(Standing standing) throws InterruptedException {
        while (true) {
            if (Thread.interrupted()) { // which a wait does not see that is over at once
                throw new InterruptedException("interrupted while standing for " + name());
            }
            Lease lease;
            try {
                lease = lock.services().time().await(standing.nextTerm());
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RuntimeException known) {
                    throw known;
                }
                throw new IllegalStateException(e.getCause());
            }
            if (standing.workBegins(lease)) {
                if (lease.isHeld()) {
                    return lease;
                }
                standing.workEnded();
            }
        }
    }

    @Override
    public String toString() {
        return "Election[" + name() + "]";
    }
}
