// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The store that clients of one name share: strict FIFO for each key, one counter of tokens, expiry by its own clock
 * when it is next asked about a key.
 */
public final class ReferenceStore {

    /** One client's life at the store. */
    public static final class Session {
        final LockBackend.Signals signals;
        final Map<Long, Long> withdrawn = new HashMap<>();

        /** Begins a life; {@code signals} is told of what concerns it. */
        public Session(LockBackend.Signals signals) {
            this.signals = signals;
        }
    }

    private final TimeSource time;
    private final Map<LockKey, LockEntry> entries =
            new TreeMap<>(Comparator.comparing(LockKey::name).thenComparing(LockKey::kind));
    private long lastToken;
    private long attempts;

    /** Makes an empty store on that clock. */
    public ReferenceStore(TimeSource time) {
        this.time = time;
    }

    /** As the verb of the backend, for one session; likewise the next three. */
    public Attempt attempt(Session session, Request request) throws NotExecutedException {
        Set<Runnable> wake = new LinkedHashSet<>();
        try {
            return attempt(session, request, wake);
        } finally {
            wake.forEach(Runnable::run);
        }
    }

    private synchronized Attempt attempt(Session session, Request request, Set<Runnable> wake)
            throws NotExecutedException {
        attempts++;
        long now = time.nanoTime();
        long ttl = request.ttl().toNanos();
        if (session.withdrawn.containsKey(request.id())) {
            throw new NotExecutedException("request " + request.id() + " was withdrawn");
        }
        LockEntry entry = entries.computeIfAbsent(request.key(), key -> new LockEntry());
        expire(request.key(), entry, now, wake);
        Place granted = entry.holder(session, request.id());
        if (granted != null) {
            granted.expires = now + ttl;
            return granted.granted();
        }
        Place place = entry.waiter(session, request.id());
        int ahead = entry.ahead(place);
        if (ahead == 0 && entry.fits(request)) {
            Place holder = new Place(session, request, now);
            holder.token = ++lastToken;
            holder.expires = now + ttl;
            entry.leave(session, request.id());
            entry.holders.add(holder);
            if (request.mode() != LockMode.EXCLUSIVE) {
                wake(request.key(), entry, wake);
            }
            return holder.granted();
        }
        if (request.queue()) {
            if (place == null) {
                place = new Place(session, request, now);
                entry.enqueue(place);
            }
            place.expires = now + ttl;
        }
        Attempt waiting = waiting(entry, request, ahead);
        drop(request.key(), entry);
        return waiting;
    }

    /** As the verb of the backend, for one session. */
    public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
        Set<Runnable> wake = new LinkedHashSet<>();
        try {
            return convert(session, held, wanted, wake);
        } finally {
            wake.forEach(Runnable::run);
        }
    }

    private synchronized Attempt convert(Session session, Grant held, Request wanted, Set<Runnable> wake)
            throws NotExecutedException {
        attempts++;
        long now = time.nanoTime();
        long expires = now + wanted.ttl().toNanos();
        if (session.withdrawn.containsKey(wanted.id())) {
            throw new NotExecutedException("request " + wanted.id() + " was withdrawn");
        }
        LockEntry entry = entries.get(wanted.key());
        if (entry == null) {
            return new Attempt.Refused(List.of());
        }
        expire(wanted.key(), entry, now, wake);
        Place granted = entry.holder(session, wanted.id());
        if (granted != null) {
            granted.expires = expires;
            return granted.granted();
        }
        Place holder = entry.holder(session, held);
        Place waiter = entry.upgrade();
        if (holder == null || (waiter != null && !waiter.is(session, wanted.id()))) {
            Attempt refused = new Attempt.Refused(entry.owners());
            drop(wanted.key(), entry);
            return refused;
        }
        if (wanted.mode() == LockMode.EXCLUSIVE && entry.holders.size() > 1) {
            if (wanted.queue()) {
                Place place = waiter != null ? waiter : new Place(session, wanted, now);
                place.expires = expires;
                entry.awaitUpgrade(place, holder);
            }
            return waiting(entry, wanted, 0);
        }
        entry.leave(session, wanted.id());
        holder.become(wanted, ++lastToken);
        holder.expires = expires;
        if (wanted.mode() == LockMode.SHARED) {
            wake(wanted.key(), entry, wake);
        }
        return holder.granted();
    }

    private static Attempt waiting(LockEntry entry, Request request, int ahead) {
        return new Attempt.Waiting(
                request.ttl().dividedBy(4), OptionalInt.of(ahead + entry.holders.size()), entry.owners());
    }

    public Answer renew(Session session, Grant grant) {
        Set<Runnable> wake = new LinkedHashSet<>();
        Answer answer;
        synchronized (this) {
            Place holder = holder(session, grant, wake);
            if (holder != null) {
                holder.expires = time.nanoTime() + grant.ttl().toNanos();
                holder.known();
            }
            answer = holder == null ? Answer.NOT_HELD : Answer.DONE;
        }
        wake.forEach(Runnable::run);
        return answer;
    }

    public Answer release(Session session, Grant grant) {
        Set<Runnable> wake = new LinkedHashSet<>();
        Answer answer;
        synchronized (this) {
            Place holder = holder(session, grant, wake);
            if (holder != null) {
                end(grant.key(), holder, wake);
            }
            answer = holder == null ? Answer.NOT_HELD : Answer.DONE;
        }
        wake.forEach(Runnable::run);
        return answer;
    }

    public void withdraw(Session session, Request request) {
        Set<Runnable> wake = new LinkedHashSet<>();
        synchronized (this) {
            long now = time.nanoTime();
            session.withdrawn.values().removeIf(until -> now - until > 0);
            session.withdrawn.put(request.id(), now + 4 * request.ttl().toNanos());
            LockEntry entry = entries.get(request.key());
            if (entry != null) {
                expire(request.key(), entry, now, wake);
                Place holder = entry.holder(session, request.id());
                boolean waited = entry.leave(session, request.id());
                if (holder != null && !holder.undo()) {
                    entry.holders.remove(holder);
                }
                if (holder != null || waited) {
                    wake(request.key(), entry, wake);
                }
                drop(request.key(), entry);
            }
        }
        wake.forEach(Runnable::run);
    }

    /** Ends the grant of that token and tells its client. */
    public boolean breakGrant(LockKey key, long token, String reason) {
        Set<Runnable> wake = new LinkedHashSet<>();
        boolean found = false;
        synchronized (this) {
            LockEntry entry = entries.get(key);
            if (entry != null) {
                expire(key, entry, time.nanoTime(), wake);
                for (Place holder : List.copyOf(entry.holders)) {
                    if (holder.token == token) {
                        found = true;
                        wake.add(() -> holder.session.signals.ended(key, token, Cause.BROKEN, "broken: " + reason));
                        end(key, holder, wake);
                    }
                }
            }
        }
        wake.forEach(Runnable::run);
        return found;
    }

    synchronized int availablePermits(LockKey key, int capacity) {
        Optional<LockStatus> status = show(key);
        int out = status.stream()
                .flatMap(shown -> shown.holders().stream())
                .mapToInt(LockStatus.Holder::permits)
                .sum();
        return Math.max(0, capacity - out);
    }

    /** What lives, with a cursor. */
    public synchronized LockPage list(String prefix, Optional<String> after, int max) {
        List<LockStatus> page = new ArrayList<>();
        for (LockKey key : List.copyOf(entries.keySet())) {
            if (!key.name().value().startsWith(prefix)
                    || (after.isPresent() && cursor(key).compareTo(after.get()) <= 0)) {
                continue;
            }
            if (page.size() == max) {
                return new LockPage(page, Optional.of(cursor(page.get(max - 1).key())));
            }
            show(key).ifPresent(page::add);
        }
        return new LockPage(page, Optional.empty());
    }

    synchronized Optional<LockStatus> show(LockKey key) {
        long now = time.nanoTime();
        LockEntry entry = entries.get(key);
        if (entry == null) {
            return Optional.empty();
        }
        // Shown, not ended: whoever asks about it next sees the same.
        List<LockStatus.Holder> holders = new ArrayList<>();
        List<LockStatus.Waiter> waiters = new ArrayList<>();
        for (Place place : entry.holders) {
            if (now - place.expires < 0) {
                Request request = place.request;
                holders.add(new LockStatus.Holder(
                        request.owner().client(),
                        request.mode(),
                        request.permits(),
                        OptionalLong.of(place.token),
                        Duration.ofNanos(now - place.since),
                        request.owner().metadata()));
            }
        }
        for (Place place : entry.waiters()) {
            if (now - place.expires < 0) {
                Request request = place.request;
                waiters.add(new LockStatus.Waiter(
                        request.owner().client(),
                        request.mode(),
                        request.permits(),
                        OptionalLong.empty(),
                        Duration.ofNanos(now - place.since),
                        request.owner().metadata()));
            }
        }
        return holders.isEmpty() && waiters.isEmpty()
                ? Optional.empty()
                : Optional.of(new LockStatus(key, holders, waiters));
    }

    /** Nothing is held or queued, not even something that has expired. */
    public synchronized boolean isEmpty() {
        return entries.isEmpty();
    }

    /** The store loses its memory, but for the tokens. */
    public synchronized void forgetAll() {
        entries.clear();
    }

    /** How many attempts arrived. */
    public synchronized long attempts() {
        return attempts;
    }

    /** The clock, if it is a manual one. */
    public ManualTime manualTime() {
        return (ManualTime) time;
    }

    private @Nullable Place holder(Session session, Grant grant, Set<Runnable> wake) {
        LockEntry entry = entries.get(grant.key());
        if (entry == null) {
            return null;
        }
        expire(grant.key(), entry, time.nanoTime(), wake);
        drop(grant.key(), entry);
        return entry.holder(session, grant);
    }

    private void end(LockKey key, Place holder, Set<Runnable> wake) {
        LockEntry entry = entries.get(key);
        if (entry == null) {
            return;
        }
        entry.holders.remove(holder);
        wake(key, entry, wake);
        drop(key, entry);
    }

    private void expire(LockKey key, LockEntry entry, long now, Set<Runnable> wake) {
        if (entry.expire(now)) {
            wake(key, entry, wake);
        }
    }

    /** Tells the client at the head of the queue. */
    private static void wake(LockKey key, LockEntry entry, Set<Runnable> wake) {
        entry.settle();
        Place first = entry.first();
        if (first != null) {
            LockBackend.Signals signals = first.session.signals;
            wake.add(() -> signals.recheck(key));
        }
    }

    private void drop(LockKey key, LockEntry entry) {
        if (entry.isEmpty()) {
            entries.remove(key);
        }
    }

    private static String cursor(LockKey key) {
        return key.name().value() + "\n" + (key.kind() == LockKey.Kind.LOCK ? 0 : 1);
    }
}
