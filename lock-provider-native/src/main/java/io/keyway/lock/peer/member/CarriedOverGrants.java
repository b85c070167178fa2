// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.session.SessionLife;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Set;

/**
 * The grants that a host takes over from one that ended in order: held until their owners re-assert them, are proved
 * dead, or their time is over. In the table each stands with the bytes of clients.lock that its owner keeps locked.
 *
 * <p>One thread at a time.
 */
public final class CarriedOverGrants {
    /** A client has one byte, and one for its guard. */
    private static final int MAX_BYTES = 16;

    /** @param toldAt when its owner was first known to have re-asserted all that it believes in; NEVER before */
    private record Row(GrantTable.Entry entry, List<Long> bytes, long until, long toldAt) {}

    private final List<Row> rows = new ArrayList<>();

    private CarriedOverGrants() {}

    static CarriedOverGrants none() {
        return new CarriedOverGrants();
    }

    /**
     * Reads the table of a clean end.
     *
     * @param algorithm whose grants they are
     * @param now from which on each grant may be believed in for what is left of it
     * @param since nanoseconds that have passed since the table was written, of what is kept whoever believes in it
     * @throws WireException if another version wrote it: nothing is known then
     */
    static CarriedOverGrants read(int algorithm, List<byte[]> table, long now, long since) throws WireException {
        return read(algorithm, table, now, since, false);
    }

    /** As {@link #read}, of nothing but what is kept beyond its lease. */
    static CarriedOverGrants readKept(int algorithm, List<byte[]> table, long now, long since) throws WireException {
        return read(algorithm, table, now, since, true);
    }

    private static CarriedOverGrants read(int algorithm, List<byte[]> table, long now, long since, boolean onlyKept)
            throws WireException {
        CarriedOverGrants inheritance = new CarriedOverGrants();
        for (byte[] each : table) {
            WireReader in = new WireReader(each);
            GrantTable.Entry entry = GrantTable.read(algorithm, in).after(since);
            List<Long> bytes = new ArrayList<>();
            for (int left = in.count(MAX_BYTES, 1); left > 0; left--) {
                bytes.add(in.number());
            }
            if (in.remaining() > 0) {
                throw new WireException(in.remaining() + " bytes too many");
            }
            if (entry.grant().keep() > 0 || (entry.grant().left() > 0 && !onlyKept)) {
                inheritance.rows.add(
                        new Row(entry, List.copyOf(bytes), now + entry.grant().left(), Turn.NEVER));
            }
        }
        return inheritance;
    }

    /**
     * Writes the table of this life's end.
     *
     * @param entries all grants
     * @param lives the sessions that may own them; what nobody has re-asserted keeps the bytes that it came with
     */
    public List<byte[]> table(List<GrantTable.Entry> entries, List<SessionLife> lives) {
        Map<Object, List<Long>> bytes = new HashMap<>();
        lives.forEach(life -> bytes.put(life.peer(), life.bytes()));
        rows.forEach(row -> bytes.put(identity(row.entry()), row.bytes()));
        List<byte[]> table = new ArrayList<>();
        for (GrantTable.Entry entry : entries) {
            Object owner = entry.holder().equals(GrantTable.NOBODY) ? identity(entry) : entry.holder();
            List<Long> its = bytes.getOrDefault(owner, List.of());
            WireWriter out = new WireWriter(GrantTable.MAX_ENTRY_BYTES);
            entry.write(out);
            out.number(its.size());
            its.forEach(out::number);
            table.add(out.toBytes());
        }
        return table;
    }

    private static Object identity(GrantTable.Entry entry) {
        return Map.entry(entry.key(), entry.grant().token());
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    int size() {
        return rows.size();
    }

    /** The longest time for which one of them may be believed in, or its place is kept, in nanoseconds. */
    long longest() {
        long believed =
                rows.stream().mapToLong(row -> row.entry().grant().left()).max().orElse(0);
        return Math.max(believed, longestKept());
    }

    /** The longest time for which a place of them is kept, in nanoseconds. */
    long longestKept() {
        return rows.stream().mapToLong(row -> row.entry().grant().keep()).max().orElse(0);
    }

    /** What the cell has to know before it hears anybody. */
    public List<Input> imports() {
        List<Input> imports = new ArrayList<>();
        for (Row row : rows) {
            imports.add(new Input.Command(row.entry().key(), row.entry().grant()));
        }
        return imports;
    }

    /**
     * Forgets what is settled, and returns what the cell has to know of it.
     *
     * @param told bytes of clients that have re-asserted whatever they believe in
     */
    public List<Input> settle(Set<Long> told, ByteLocks locks, long now) {
        Map<List<Long>, Boolean> dead = new HashMap<>();
        List<Input> disowned = new ArrayList<>();
        for (ListIterator<Row> each = rows.listIterator(); each.hasNext(); ) {
            Row row = each.next();
            boolean known = !row.bytes().isEmpty();
            if (known && row.toldAt() == Turn.NEVER && told.containsAll(row.bytes())) {
                row = new Row(row.entry(), row.bytes(), row.until(), now);
                each.set(row);
            }
            // Its lease may have lapsed a moment ago, and its user needs time to stop.
            long toStop = row.entry().grant().ttl() / 4;
            boolean free = (row.toldAt() != Turn.NEVER && now - row.toldAt() >= toStop)
                    || (known && dead.computeIfAbsent(row.bytes(), bytes -> dead(bytes, locks)));
            if (free || now - row.until() >= 0) {
                each.remove();
            }
            if (free) {
                disowned.add(new Input.Command(
                        row.entry().key(),
                        new LockCall.Disown(row.entry().grant().token())));
            }
        }
        return disowned;
    }

    private static boolean dead(List<Long> bytes, ByteLocks locks) {
        return bytes.stream().allMatch(each -> locks.probe(each) == ByteLocks.Life.DEAD);
    }
}
