// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The part of a {@link StoreMachine} that asks for what is wanted, until it is granted, refused or given up. */
final class StoreAttempts {

    private final StoreMachine machine;
    private final KeyQueues queues;
    private final StoreTimers timers;
    private final StoreLeases leases;
    private final StoreCleanUp cleanUp;

    StoreAttempts(
            StoreMachine machine, KeyQueues queues, StoreTimers timers, StoreLeases leases, StoreCleanUp cleanUp) {
        this.machine = machine;
        this.queues = queues;
        this.timers = timers;
        this.leases = leases;
        this.cleanUp = cleanUp;
    }

    /** The entry is new; it is sent when those that came before it have been. */
    void begin(StoreEntry entry) {
        queues.add(entry);
        if (queues.begin(entry)) {
            send(entry, false);
        }
    }

    /** A hint that something of that key is free. */
    void recheck(LockKey key) {
        ask(queues.hint(key));
    }

    /** As {@link #recheck}, of every key. */
    void recheckAll() {
        queues.keys().forEach(this::recheck);
    }

    void ask(@Nullable StoreEntry entry) {
        if (entry == null) {
            return;
        }
        if (entry.inFlight) {
            entry.again = true;
        } else {
            send(entry, false);
        }
    }

    void send(StoreEntry entry, boolean heartbeat) {
        entry.armed = false;
        entry.inFlight = true;
        entry.unsent = false;
        entry.again = false;
        entry.voided = false;
        entry.stale = false;
        StoreEntry holder = entry.holder;
        machine.tell(
                holder == null
                        ? new StoreEffect.Attempt(entry.request, heartbeat)
                        : new StoreEffect.Convert(holder.held(), entry.request, heartbeat));
    }

    /** Its first call is over, or will not be made. */
    void sendNext(StoreEntry entry) {
        for (StoreEntry next : queues.arrived(entry)) {
            if (!machine.closed()) {
                send(next, false);
            }
        }
    }

    void answered(StoreEntry entry, long sentAt, Attempt result, long now) {
        sendNext(entry);
        entry.mayStand = true;
        if (entry.phase == StoreEntry.Phase.WITHDRAWING) {
            cleanUp.withdraw(entry);
        } else if (result instanceof Attempt.Granted granted) {
            granted(entry, granted.grant(), sentAt - granted.age().toNanos(), now);
        } else if (result instanceof Attempt.Waiting waiting) {
            waits(entry, waiting, now);
        } else if (result instanceof Attempt.Refused refused) {
            refused(entry, refused, now);
        }
    }

    /** {@code maybe}: it may have been executed. {@code fatal}: no repetition can help. */
    void failed(StoreEntry entry, boolean maybe, String why, @Nullable LockException fatal, long now) {
        sendNext(entry);
        entry.mayStand |= maybe;
        entry.unanswered |= maybe;
        if (entry.phase == StoreEntry.Phase.WITHDRAWING) {
            cleanUp.withdrawOrForget(entry);
            return;
        }
        LockException failure = fatal;
        if (failure == null && !maybe && !entry.request.queue()) {
            failure = Failures.notAsked(entry.request.key(), machine.server(), why);
        }
        if (failure != null) {
            machine.tell(new StoreEffect.Failed(entry.id(), failure));
            machine.startWithdraw(entry, now);
            return;
        }
        machine.tell(new StoreEffect.Doubt(entry.id(), why));
        timers.retry(entry, now);
        queues.failed(entry);
    }

    void granted(StoreEntry entry, Grant grant, long sentAt, long now) {
        if (entry.voided) {
            send(entry, false);
            return;
        }
        entry.echo = sentAt;
        long ttl = grant.ttl().toNanos();
        if (now - (sentAt + ttl / 4 * 3) >= 0) {
            // Too old to be believed; a repetition brings a fresh answer of the same grant.
            timers.retry(entry, now);
            queues.failed(entry);
            return;
        }
        StoreEntry holder = entry.holder;
        if (holder != null && now - holder.deadline() >= 0) {
            leases.lapse(holder, now);
            return;
        }
        StoreEntry next = queues.granted(entry);
        entry.grant = grant;
        entry.phase = StoreEntry.Phase.HELD;
        entry.failures = 0;
        if (holder == null) {
            machine.tell(new StoreEffect.Granted(entry.id(), grant, entry.deadline()));
        } else {
            machine.tell(new StoreEffect.Converted(holder.id(), entry.id(), grant, entry.deadline()));
            entry.holder = null;
            entry.converted = true;
            leases.remove(holder);
            holder.conversion = null;
            machine.forgetGranted(holder, now);
        }
        leases.add(entry, now);
        ask(next);
    }

    /** Its grant was broken before it was heard of: nobody believes in it, which the store cannot know. */
    private void disown(StoreEntry entry, Grant broken) {
        entry.disowned = broken.token();
        cleanUp.disown(entry, broken);
    }

    /** The store has been told that nobody believes in what was broken; {@code known}: it has answered. */
    void disowned(StoreEntry entry, boolean known, long now) {
        if (entry.phase == StoreEntry.Phase.WITHDRAWING) {
            cleanUp.withdraw(entry);
        } else if (known) {
            send(entry, false);
        } else {
            entry.disowned = 0;
            timers.retry(entry, now);
        }
    }

    private void waits(StoreEntry entry, Attempt.Waiting waiting, long now) {
        Optional<Grant> broken = waiting.broken();
        if (broken.isPresent() && broken.get().token() != entry.disowned) {
            disown(entry, broken.get());
            return;
        }
        if (!entry.request.queue()) {
            machine.tell(new StoreEffect.Refused(entry.id(), waiting.holders()));
            leave(entry, now);
            return;
        }
        if (entry.isLate(waiting)) {
            queues.moveToEnd(entry);
        }
        entry.failures = 0;
        if (entry.isNew(waiting)) {
            machine.tell(new StoreEffect.Waiting(entry.id(), waiting.ahead(), waiting.holders()));
        }
        if (entry.again) {
            send(entry, false);
            return;
        }
        timers.arm(entry, now + timers.jittered(waiting.recheckWithin().toNanos()));
        ask(queues.refused(entry));
    }

    /** Its caller has been told no; an earlier attempt of it must not come to a grant any more. */
    private void leave(StoreEntry entry, long now) {
        if (entry.unanswered) {
            machine.startWithdraw(entry, now);
        } else {
            machine.forget(entry);
        }
    }

    private void refused(StoreEntry entry, Attempt.Refused refused, long now) {
        machine.tell(new StoreEffect.Refused(entry.id(), refused.holders()));
        StoreEntry holder = entry.holder;
        leave(entry, now);
        if (holder != null && holder.phase == StoreEntry.Phase.HELD) {
            // Perhaps for the reason that it is gone.
            leases.renewNow(holder, now);
        }
    }
}
