// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference.etcd;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.reference.etcd.Etcd.Compare;
import io.keyway.lock.reference.etcd.Etcd.KeyValue;
import io.keyway.lock.reference.etcd.Etcd.Op;
import io.keyway.lock.reference.etcd.Etcd.TxnResponse;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rows in etcd. A row is a value, written if its revision is the one expected; the revision is its version, and so the
 * token of the grant that it makes. For each entry of a row there is a key beside it, attached to a lease of its own:
 * who is not heard of loses the key, and is left out when the row is read. An entry that begins gets a lease for as
 * long as that entry lasts: a waiter, its grant and the memory of its withdrawal are of one id, and last differently.
 */
final class EtcdRows implements RowStore {

    static final Set<Feature> FEATURES = features(RowBackend.FEATURES);

    private static final String ROWS = "/keyway/rows/";
    private static final String LIVES = "/keyway/lives/";
    private static final int PAGE = 100;

    private final Etcd etcd;
    private final LongSupplier clock;

    /** Those of this client's entries, by the keys that are attached to them. */
    private final Map<LockKey, Map<String, Long>> leases = new ConcurrentHashMap<>();

    private @Nullable AutoCloseable watch;

    /** @param clock for people, who are shown since when a lock is held; the same for all clients, as well as may be */
    EtcdRows(Etcd etcd, LongSupplier clock) {
        this.etcd = etcd;
        this.clock = clock;
    }

    private static Set<Feature> features(Set<Feature> rows) {
        Set<Feature> features = EnumSet.copyOf(rows);
        features.remove(Feature.HOLD_AT_LEAST); // There is no clock that outlasts a lease.
        features.addAll(Set.of(Feature.LIST, Feature.WAKE_UP));
        return features;
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        String raft = "a majority of the members keeps its disks";
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, raft),
                new Guarantee(Grade.TIMED, "the clocks of client and leader run at one rate"),
                new Guarantee(Grade.ALWAYS, raft),
                new Guarantee(Grade.ALWAYS, raft),
                Duration.ofSeconds(2),
                Duration.ofHours(24));
    }

    /** Leases last whole seconds. */
    @Override
    public Duration agreed(Duration ttl) {
        return Duration.ofSeconds(ttl.plusNanos(999_999_999).toSeconds());
    }

    /** Each word of a waiter renews its lease, however soon it comes ({@link #renewWaiters}). */
    @Override
    public RowRules rules() {
        return new RowRules() {
            @Override
            protected long rewrittenAfter(Request request) {
                return 0;
            }
        };
    }

    @Override
    public void start(Listener listener, Incarnation client) {
        watch = etcd.watch("/keyway/", event -> {
            boolean row = event.key().startsWith(ROWS);
            boolean ours = row
                    && event.value().isPresent()
                    && event.value().get().value().contains(client.toString());
            if (ours || (!row && event.value().isEmpty())) {
                LockKey key = key(event.key());
                Stored stored = read(key);
                if (!row && stored.version() > 0 && stored.row().isFree()) {
                    deleteDead(key, stored);
                }
                listener.changed(key, stored);
            }
        });
        listener.signals().connected("etcd");
    }

    /** A row of which nobody lives any more, unless somebody has written it meanwhile. */
    private void deleteDead(LockKey key, Stored dead) {
        String row = rowKey(key);
        TxnResponse unused =
                etcd.txn(List.of(Compare.revision(row, dead.version())), List.of(new Op.Delete(row)), List.of());
    }

    @Override
    public Stored read(LockKey key, Deadline deadline) {
        return read(key);
    }

    private Stored read(LockKey key) {
        return stored(key, etcd.txn(List.of(), look(key), List.of()));
    }

    private static List<Op> look(LockKey key) {
        return List.of(Op.Range.key(rowKey(key)), Op.Range.prefix(lives(key)));
    }

    private Stored stored(LockKey key, TxnResponse response) {
        long now = clock.getAsLong();
        List<KeyValue> rows = response.ranges().get(0);
        if (rows.isEmpty()) {
            return new Stored(Row.FREE, 0, now);
        }
        Set<String> lives = response.ranges().get(1).stream().map(KeyValue::key).collect(Collectors.toSet());
        KeyValue kept = rows.get(0);
        String[] parts = kept.value().split("\n", 2);
        Row row = Row.parse(key, parts[1]).stamped(kept.modRevision(), Long.parseLong(parts[0]));
        return new Stored(row.alive(entry -> lives.contains(life(key, entry)), now), kept.modRevision(), now);
    }

    @Override
    public Written write(Write write, Deadline deadline) {
        LockKey key = write.key();
        String rowKey = rowKey(key);
        Map<String, Long> known = leases.computeIfAbsent(key, none -> new ConcurrentHashMap<>());
        Map<String, Long> former = Map.copyOf(known);
        List<Compare> compares = new ArrayList<>(List.of(Compare.revision(rowKey, write.expected())));
        List<Op> then = new ArrayList<>();
        then.add(
                write.row().isFree()
                        ? new Op.Delete(rowKey)
                        : new Op.Put(
                                rowKey, clock.getAsLong() + "\n" + write.row().text(), 0));
        for (Entry entry : write.heard()) {
            String life = life(key, entry);
            if (entry.begins()) {
                long lease = etcd.leaseGrant((entry.lasts() + 999_999_999) / 1_000_000_000);
                known.put(life, lease);
                then.add(new Op.Put(life, "", lease));
            } else {
                renew(known, life);
                // Its lease may have ended: then the row as it is read lacks the entry, and is what stands in the way.
                compares.add(Compare.exists(life));
            }
        }
        then.addAll(look(key));
        TxnResponse response = etcd.txn(compares, then, look(key));
        Map<String, Long> goOn = response.succeeded() ? standing(write, known) : former;
        Set<Long> over = new HashSet<>(former.values());
        over.addAll(known.values());
        over.removeAll(goOn.values());
        leases.computeIfPresent(key, (same, all) -> goOn.isEmpty() ? null : new ConcurrentHashMap<>(goOn));
        over.forEach(etcd::leaseRevoke);
        return new Written(response.succeeded(), stored(key, response));
    }

    /** The leases of this client whose entries stand in the row; what was converted may be undone. */
    private static Map<String, Long> standing(Write write, Map<String, Long> known) {
        Map<String, Long> stand = new HashMap<>();
        for (Entry entry : write.row().entries()) {
            for (Entry each = entry; each != null; each = each.before()) {
                String life = life(write.key(), each);
                if (known.containsKey(life)) {
                    stand.put(life, known.get(life));
                }
            }
        }
        return stand;
    }

    private boolean renew(Map<String, Long> known, String life) {
        Long lease = known.get(life);
        return lease != null && etcd.leaseKeepAlive(lease) > 0;
    }

    /** Sixteen that wait would else write one row in turn, each time somebody asks. */
    @Override
    public boolean renewWaiters(LockKey key, List<Entry> waiters, Deadline deadline) {
        Map<String, Long> known = leases.getOrDefault(key, Map.of());
        return waiters.stream().allMatch(waiter -> renew(known, life(key, waiter)));
    }

    private static String rowKey(LockKey key) {
        return ROWS + key.name() + '\0' + key.kind();
    }

    private static String lives(LockKey key) {
        return LIVES + key.name() + '\0' + key.kind() + '\0';
    }

    private static String life(LockKey key, Entry entry) {
        return lives(key) + entry.id();
    }

    /** No name has a character as low as the one behind it. */
    private static LockKey key(String text) {
        String[] parts = text.substring(text.startsWith(ROWS) ? ROWS.length() : LIVES.length())
                .split("\0", -1);
        return new LockKey(LockKey.Kind.valueOf(parts[1]), LockName.of(parts[0]));
    }

    @Override
    public Page list(String prefix, Optional<String> after, int max, Deadline deadline) {
        String from = after.map(last -> last + '\0').orElse(ROWS + prefix);
        Op.Range range = new Op.Range(from, ROWS + prefix + Character.MAX_VALUE, Math.min(max, PAGE));
        List<KeyValue> found =
                etcd.txn(List.of(), List.of(range), List.of()).ranges().get(0);
        List<Listed> page = new ArrayList<>();
        for (KeyValue each : found) {
            page.add(new Listed(key(each.key()), read(key(each.key()))));
        }
        boolean more = found.size() == range.limit();
        return new Page(page, more ? Optional.of(found.get(found.size() - 1).key()) : Optional.empty());
    }

    @Override
    public void close() throws Exception {
        if (watch != null) {
            watch.close();
        }
    }
}
