// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A watcher of one lock: asks who holds it and who waits, tells what has changed, and asks again when the authority
 * says that something has, and after a while in any case. It has no thread of its own.
 *
 * <p>There is one question at a time. So each answer was found later than the one before, and what is told never goes
 * back. What the listener has not been told yet is replaced by what is newer: it is told one snapshot at a time, and a
 * slow one the newest.
 */
final class QueueWatch implements Subscription {
    /** How long a change that the authority does not tell may stay unseen. */
    static final Duration EVERY = Duration.ofSeconds(1);

    /** Between two questions at the least, in nanoseconds: a lock that changes all the time is asked for so often. */
    private static final long SHORTEST = 20_000_000;

    /** The authority is asked anew for the next change after that. */
    private static final Duration CHANGE_LIMIT = Duration.ofSeconds(20);

    private static final Logger LOG = System.getLogger(QueueWatch.class.getName());

    private final ClientServices services;
    private final LockKey key;
    private final long every;
    private final Consumer<LockSnapshot> listener;
    private final Object guard = new Object();

    private boolean asking;
    private boolean again;
    private long askedAt;
    private long version;
    private @Nullable LockStatus seen;
    private boolean certain;
    private @Nullable LockSnapshot untold;
    private boolean telling;

    private volatile boolean closed;
    private volatile @Nullable Subscription ending;
    private volatile TimeSource.@Nullable Scheduled question;
    private volatile TimeSource.@Nullable Scheduled change;

    private QueueWatch(ClientServices services, LockKey key, Duration every, Consumer<LockSnapshot> listener) {
        this.services = services;
        this.key = key;
        this.every = TimeLimit.nanos(every);
        this.listener = listener;
    }

    static Subscription begin(ClientServices services, LockKey key, Duration every, Consumer<LockSnapshot> listener) {
        QueueWatch watch = new QueueWatch(services, key, every, listener);
        watch.ending = services.onClose(watch::end);
        watch.ask();
        watch.awaitChange(0);
        return watch;
    }

    // Asking

    private void ask() {
        synchronized (guard) {
            if (closed) {
                return;
            }
            if (asking) {
                again = true;
                return;
            }
            asking = true;
            again = false;
            askedAt = now();
        }
        cancel(question);
        services.show(key)
                .thenApply(found -> found.orElseGet(() -> new LockStatus(key, List.of(), List.of())))
                .whenComplete(this::answered);
    }

    private void answered(@Nullable LockStatus found, @Nullable Throwable failure) {
        if (endsWith(failure)) {
            return;
        }
        long next;
        boolean tells;
        synchronized (guard) {
            asking = false;
            if (found != null && failure == null) {
                see(found);
            } else {
                doubt();
            }
            next = again
                    ? askedAt + SHORTEST
                    : now() + every / 4 * 3 + ThreadLocalRandom.current().nextLong(every / 2 + 1);
            tells = untold != null && !telling;
            telling |= tells;
        }
        if (tells) {
            services.tell(this::tellAll);
        }
        askAt(next);
    }

    private void askAt(long nanos) {
        if (!closed) {
            cancel(question);
            question = services.time().at(nanos, this::ask);
            if (closed) {
                cancel(question);
            }
        }
    }

    /** Waits until the lock is not as it was at that version of the authority's; 0 for none. */
    private void awaitChange(long known) {
        if (closed) {
            return;
        }
        services.change(key, known, CHANGE_LIMIT)
                .ifPresent(stage -> stage.whenComplete((now, failure) -> {
                    if (endsWith(failure)) {
                        return;
                    }
                    boolean answered = failure == null && now != null;
                    if (answered && now < 0) {
                        return; // the authority does not tell
                    }
                    if (answered && now != known) {
                        changed();
                    }
                    long next = answered ? now : known;
                    long after = answered ? SHORTEST : Math.min(every, EVERY.toNanos());
                    change = services.time().at(now() + after, () -> awaitChange(next));
                    if (closed) {
                        cancel(change);
                    }
                }));
    }

    private void changed() {
        long next;
        synchronized (guard) {
            if (asking) {
                again = true;
                return;
            }
            next = askedAt + SHORTEST;
        }
        if (next - now() <= 0) {
            ask();
        } else {
            askAt(next);
        }
    }

    /** Whether the client is closed, and nothing will be heard any more. */
    private boolean endsWith(@Nullable Throwable failure) {
        if (failure instanceof ClientClosedException
                || (failure != null && failure.getCause() instanceof ClientClosedException)) {
            closed = true;
        }
        return closed;
    }

    private long now() {
        return services.time().nanoTime();
    }

    // Seeing; under the guard

    private void see(LockStatus now) {
        boolean same = seen != null && isSame(seen, now);
        seen = now;
        if (!same || !certain) {
            certain = true;
            untold = new LockSnapshot(++version, now, true);
        }
    }

    private void doubt() {
        if (seen != null && certain) {
            certain = false;
            untold = new LockSnapshot(++version, seen, false);
        }
    }

    /** Whether nobody has come, gone or changed place between the one and the other, as far as can be seen. */
    static boolean isSame(LockStatus before, LockStatus now) {
        return areSame(before.holders(), now.holders(), QueueWatch::isSame)
                && areSame(before.waiters(), now.waiters(), QueueWatch::isSame)
                && before.buckets().equals(now.buckets())
                && before.softWriters().size() == now.softWriters().size()
                && new HashSet<>(before.softWriters().stream()
                                .map(QueueWatch::timeless)
                                .toList())
                        .equals(new HashSet<>(now.softWriters().stream()
                                .map(QueueWatch::timeless)
                                .toList()));
    }

    private static <T> boolean areSame(List<T> before, List<T> now, BiPredicate<T, T> same) {
        if (before.size() != now.size()) {
            return false;
        }
        Iterator<T> other = now.iterator();
        for (T each : before) {
            if (!same.test(each, other.next())) {
                return false;
            }
        }
        return true;
    }

    /** Whoever has come in the place of another one of that name has been there for a shorter time. */
    private static boolean isSame(LockStatus.Holder before, LockStatus.Holder now) {
        return before.client().equals(now.client())
                && before.mode() == now.mode()
                && before.permits() == now.permits()
                && before.token().equals(now.token())
                && before.metadata().equals(now.metadata())
                && before.kept().isPresent() == now.kept().isPresent()
                && (now.token().isPresent() || before.since().compareTo(now.since()) <= 0);
    }

    private static boolean isSame(LockStatus.Waiter before, LockStatus.Waiter now) {
        return timeless(before).equals(timeless(now)) && before.since().compareTo(now.since()) <= 0;
    }

    private static LockStatus.Waiter timeless(LockStatus.Waiter waiter) {
        return new LockStatus.Waiter(
                waiter.client(), waiter.mode(), waiter.permits(), waiter.token(), Duration.ZERO, waiter.metadata());
    }

    // Telling

    private void tellAll() {
        while (true) {
            LockSnapshot next;
            synchronized (guard) {
                next = untold;
                untold = null;
                if (next == null || closed) {
                    telling = false;
                    return;
                }
            }
            try {
                listener.accept(next);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, "A watcher of " + key.name() + " failed on version " + next.version(), e);
            }
        }
    }

    @Override
    public void close() {
        end();
        Subscription known = ending;
        if (known != null) {
            known.close();
        }
    }

    private void end() {
        closed = true;
        cancel(question);
        cancel(change);
    }

    private static void cancel(TimeSource.@Nullable Scheduled armed) {
        if (armed != null) {
            armed.cancel();
        }
    }
}
