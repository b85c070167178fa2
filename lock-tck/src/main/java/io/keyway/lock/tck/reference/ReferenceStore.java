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
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

    /** A request of one client, in the queue or among the holders. */
    private static final class Place {
        final Session session;
        final Request request;
        final long since;
        long token;
        long expires;

        Place(Session session, Request request, long now) {
            this.session = session;
            this.request = request;
            this.since = now;
        }
    }

    private record Id(Session session, long request) {}

    private static final class Entry {
        final List<Place> holders = new ArrayList<>();
        final Map<Id, Place> queue = new LinkedHashMap<>();

        /** The queue was looked through at this time; nothing expires twice in one instant. */
        long scannedAt;

        boolean scanned;
    }

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
    private final Map<LockKey, Entry> entries =
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
        Entry entry = entries.computeIfAbsent(request.key(), key -> new Entry());
        expire(request.key(), entry, now, wake);
        for (Place holder : entry.holders) {
            if (holder.session == session && holder.request.id() == request.id()) {
                holder.expires = now + ttl;
                return granted(holder);
            }
        }
        Id id = new Id(session, request.id());
        Place place = entry.queue.get(id);
        int ahead = ahead(entry, place);
        if (ahead == 0 && fits(entry, request)) {
            Place holder = new Place(session, request, now);
            holder.token = ++lastToken;
            holder.expires = now + ttl;
            entry.queue.remove(id);
            entry.holders.add(holder);
            if (!entry.queue.isEmpty() && request.mode() != LockMode.EXCLUSIVE) {
                wake(request.key(), entry, wake);
            }
            return granted(holder);
        }
        if (request.queue()) {
            if (place == null) {
                place = new Place(session, request, now);
                entry.queue.put(id, place);
            }
            place.expires = now + ttl;
        }
        List<Owner> owners =
                entry.holders.stream().map(holder -> holder.request.owner()).toList();
        drop(request.key(), entry);
        return new Attempt.Waiting(request.ttl().dividedBy(4), OptionalInt.of(ahead + entry.holders.size()), owners);
    }

    public Answer renew(Session session, Grant grant) {
        Set<Runnable> wake = new LinkedHashSet<>();
        Answer answer;
        synchronized (this) {
            Place holder = holder(session, grant, wake);
            if (holder != null) {
                holder.expires = time.nanoTime() + grant.ttl().toNanos();
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
            Entry entry = entries.get(request.key());
            if (entry != null) {
                expire(request.key(), entry, now, wake);
                Place holder = find(entry.holders, session, request.id());
                Place waiter = entry.queue.remove(new Id(session, request.id()));
                if (holder != null || waiter != null) {
                    entry.holders.remove(holder);
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
            Entry entry = entries.get(key);
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
        Entry entry = entries.get(key);
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
        for (Place place : entry.queue.values()) {
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

    private static Attempt granted(Place holder) {
        Request request = holder.request;
        return new Attempt.Granted(new Grant(request.id(), request.key(), holder.token, request.ttl(), ""));
    }

    private static boolean fits(Entry entry, Request request) {
        return switch (request.mode()) {
            case EXCLUSIVE -> entry.holders.isEmpty();
            case SHARED -> entry.holders.stream().allMatch(holder -> holder.request.mode() == LockMode.SHARED);
            case PERMITS ->
                entry.holders.stream()
                                        .mapToInt(holder -> holder.request.permits())
                                        .sum()
                                + request.permits()
                        <= request.capacity();
        };
    }

    private @Nullable Place holder(Session session, Grant grant, Set<Runnable> wake) {
        Entry entry = entries.get(grant.key());
        if (entry == null) {
            return null;
        }
        expire(grant.key(), entry, time.nanoTime(), wake);
        Place holder = find(entry.holders, session, grant.id());
        drop(grant.key(), entry);
        return holder != null && holder.token == grant.token() ? holder : null;
    }

    private void end(LockKey key, Place holder, Set<Runnable> wake) {
        Entry entry = entries.get(key);
        if (entry == null) {
            return;
        }
        entry.holders.remove(holder);
        wake(key, entry, wake);
        drop(key, entry);
    }

    private void expire(LockKey key, Entry entry, long now, Set<Runnable> wake) {
        if (entry.scanned && entry.scannedAt == now) {
            return;
        }
        entry.scanned = true;
        entry.scannedAt = now;
        boolean changed = entry.holders.removeIf(holder -> now - holder.expires >= 0);
        changed |= entry.queue.values().removeIf(waiter -> now - waiter.expires >= 0);
        if (changed) {
            wake(key, entry, wake);
        }
    }

    /** Tells the client at the head of the queue. */
    private static void wake(LockKey key, Entry entry, Set<Runnable> wake) {
        if (!entry.queue.isEmpty()) {
            LockBackend.Signals signals = first(entry).session.signals;
            wake.add(() -> signals.recheck(key));
        }
    }

    private static Place first(Entry entry) {
        return entry.queue.values().iterator().next();
    }

    private static int ahead(Entry entry, @Nullable Place place) {
        if (place == null) {
            return entry.queue.size();
        }
        return first(entry) == place ? 0 : List.copyOf(entry.queue.values()).indexOf(place);
    }

    private void drop(LockKey key, Entry entry) {
        if (entry.holders.isEmpty() && entry.queue.isEmpty()) {
            entries.remove(key);
        }
    }

    private static @Nullable Place find(List<Place> places, Session session, long id) {
        for (Place place : places) {
            if (place.session == session && place.request.id() == id) {
                return place;
            }
        }
        return null;
    }

    private static String cursor(LockKey key) {
        return key.name().value() + "\n" + (key.kind() == LockKey.Kind.LOCK ? 0 : 1);
    }
}
