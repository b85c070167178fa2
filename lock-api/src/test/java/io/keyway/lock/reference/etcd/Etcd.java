// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference.etcd;

import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A key-value server in memory with the interface of etcd: revisions of the whole store, transactions of compares and
 * operations, leases of whole seconds to which keys are attached, and watches. It has no clock that a client could ask
 * for.
 */
final class Etcd {

    /**
     * A key and its value.
     *
     * @param createRevision the revision at which the key came into being
     * @param modRevision the revision of the last put
     * @param lease to which it is attached; 0 for none
     */
    record KeyValue(String key, String value, long createRevision, long modRevision, long lease) {}

    /** A condition on a key. */
    record Compare(String key, LongPredicate modRevision) {
        /** That a key's last revision is that one; 0 if there is no such key. */
        static Compare revision(String key, long revision) {
            return new Compare(key, is -> is == revision);
        }

        static Compare exists(String key) {
            return new Compare(key, is -> is != 0);
        }
    }

    /** An operation of a transaction. */
    sealed interface Op {
        /** Writes a key, attached to a lease or to none. */
        record Put(String key, String value, long lease) implements Op {}

        /** Deletes a key. */
        record Delete(String key) implements Op {}

        /** Reads the keys from {@code from} on that are before {@code to}, at most so many. */
        record Range(String from, String to, int limit) implements Op {
            static Range key(String key) {
                return new Range(key, key + '\0', 1);
            }

            static Range prefix(String prefix) {
                return new Range(prefix, prefix + Character.MAX_VALUE, Integer.MAX_VALUE);
            }
        }
    }

    /** What a transaction came to, at that revision; {@code ranges} are the answers to its reads, in order. */
    record TxnResponse(boolean succeeded, long revision, List<List<KeyValue>> ranges) {}

    /** What a watch tells of a key: its value, or that it has been deleted. */
    record Event(String key, Optional<KeyValue> value) {}

    private static final class Lease {
        final long seconds;
        final Set<String> keys = new TreeSet<>();
        TimeSource.@Nullable Scheduled expiry;

        Lease(long seconds) {
            this.seconds = seconds;
        }
    }

    private record Watch(String prefix, Consumer<Event> told) {}

    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<String, KeyValue> keys = new TreeMap<>();
    private final Map<Long, Lease> leases = new HashMap<>();
    private final List<Watch> watches = new CopyOnWriteArrayList<>();
    private long revision = 1;
    private long requests;
    private long lastLease;

    Etcd(TimeSource time) {
        this.time = time;
    }

    TxnResponse txn(List<Compare> compares, List<Op> then, List<Op> otherwise) {
        List<Event> events = new ArrayList<>();
        lock.lock();
        try {
            requests++;
            boolean succeeded = compares.stream().allMatch(compare -> {
                KeyValue is = keys.get(compare.key());
                return compare.modRevision().test(is == null ? 0 : is.modRevision());
            });
            List<List<KeyValue>> ranges = new ArrayList<>();
            List<Op> ops = succeeded ? then : otherwise;
            revision += ops.stream().allMatch(op -> op instanceof Op.Range) ? 0 : 1;
            for (Op op : ops) {
                if (op instanceof Op.Range range) {
                    ranges.add(keys.subMap(range.from(), range.to()).values().stream()
                            .limit(range.limit())
                            .toList());
                } else if (op instanceof Op.Put put) {
                    put(put, events);
                } else if (op instanceof Op.Delete delete) {
                    delete(delete.key(), events);
                }
            }
            return new TxnResponse(succeeded, revision, ranges);
        } finally {
            lock.unlock();
            tell(events);
        }
    }

    private void put(Op.Put put, List<Event> events) {
        Lease lease = leases.get(put.lease());
        if (put.lease() != 0 && lease == null) {
            throw new IllegalStateException("etcdserver: requested lease not found");
        }
        KeyValue was = keys.get(put.key());
        if (was != null && leases.containsKey(was.lease())) {
            leases.get(was.lease()).keys.remove(put.key());
        }
        if (lease != null) {
            lease.keys.add(put.key());
        }
        KeyValue is = new KeyValue(
                put.key(), put.value(), was == null ? revision : was.createRevision(), revision, put.lease());
        keys.put(put.key(), is);
        events.add(new Event(put.key(), Optional.of(is)));
    }

    private void delete(String key, List<Event> events) {
        if (keys.remove(key) != null) {
            events.add(new Event(key, Optional.empty()));
        }
    }

    /** Makes a lease; returns its id. */
    long leaseGrant(long seconds) {
        lock.lock();
        try {
            requests++;
            long id = ++lastLease;
            Lease lease = new Lease(seconds);
            leases.put(id, lease);
            begin(id, lease);
            return id;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a lease at once, and with it the keys that are attached to it. */
    void leaseRevoke(long id) {
        Lease lease;
        lock.lock();
        try {
            requests++;
            lease = leases.get(id);
            if (lease != null && lease.expiry != null) {
                lease.expiry.cancel();
            }
        } finally {
            lock.unlock();
        }
        if (lease != null) {
            expire(id, lease);
        }
    }

    /** Renews a lease; returns its seconds, 0 if there is none of that id. */
    long leaseKeepAlive(long id) {
        lock.lock();
        try {
            requests++;
            Lease lease = leases.get(id);
            if (lease == null) {
                return 0;
            }
            begin(id, lease);
            return lease.seconds;
        } finally {
            lock.unlock();
        }
    }

    private void begin(long id, Lease lease) {
        if (lease.expiry != null) {
            lease.expiry.cancel();
        }
        lease.expiry = time.at(time.nanoTime() + lease.seconds * 1_000_000_000L, () -> expire(id, lease));
    }

    private void expire(long id, Lease lease) {
        List<Event> events = new ArrayList<>();
        lock.lock();
        try {
            if (leases.remove(id, lease)) {
                revision++;
                lease.keys.forEach(key -> delete(key, events));
            }
        } finally {
            lock.unlock();
        }
        tell(events);
    }

    /** Tells of each change of a key with that prefix from now on, until it is closed. */
    AutoCloseable watch(String prefix, Consumer<Event> told) {
        Watch watch = new Watch(prefix, told);
        watches.add(watch);
        return () -> watches.remove(watch);
    }

    private void tell(List<Event> events) {
        for (Event event : events) {
            for (Watch watch : watches) {
                if (event.key().startsWith(watch.prefix())) {
                    watch.told().accept(event);
                }
            }
        }
    }

    /** How many calls have come. */
    long requests() {
        lock.lock();
        try {
            return requests;
        } finally {
            lock.unlock();
        }
    }

    /** How many keys and leases there are. */
    long kept() {
        lock.lock();
        try {
            return (long) keys.size() + leases.size();
        } finally {
            lock.unlock();
        }
    }
}
