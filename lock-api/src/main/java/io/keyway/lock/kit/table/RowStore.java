// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A store that keeps one row for each lock and semaphore, and can change a row in one step. It knows nothing of queues:
 * {@link RowRules} decides, and {@link RowBackend} makes a {@link LockBackend} of it, with
 * {@code request.over(store)} a client. Thread-safe; what is said of a backend's verbs holds for each call: it takes at
 * most what is left of its deadline, ends early when its thread is interrupted, never retries, and throws
 * {@link io.keyway.lock.spi.NotExecutedException} only if surely nothing was written.
 *
 * <p><b>Versions.</b> Each write gives its row a version of at least 1. The versions of one key only rise, also when
 * its row has been forgotten in between and after a restart: a counter of the store (a revision, a sequence), or one of
 * the key that outlasts its row. So the version serves as the token of the grant that the write makes. A floor of
 * tokens ({@link io.keyway.lock.spi.TokenFloor}) is a floor of versions.
 *
 * <p><b>Times.</b> A row's times are of one clock that all clients of the store share and that does not jump, best the
 * store's own: with each row comes the time at which it was read, and {@link Row#stamped} puts the time of a write
 * where the row waits for it. A store without a clock whose leases say who lives drops the others when it reads
 * ({@link Row#alive}).
 */
public interface RowStore extends AutoCloseable {

    /** The version to expect of a row that nobody has read: whatever it is, if the key has no row, or a free one. */
    long IF_FREE = 0;

    /**
     * A row as it stands in the store.
     *
     * @param row without any {@link Entry#STAMP}; {@link Row#FREE} if there is none
     * @param version of its last write; 0 if the store does not know the key
     * @param now the time of this answer, by the clock of the row's times, in nanoseconds
     */
    record Stored(Row row, long version, long now) {
        /**
         * Checks that nothing is null.
         *
         * @param row see the record
         * @param version see the record
         * @param now see the record
         */
        public Stored {
            Objects.requireNonNull(row, "row");
        }
    }

    /**
     * A write of one row.
     *
     * @param key whose row
     * @param expected the version that the row must have, or {@link #IF_FREE}
     * @param row what is written. It may be forgotten if it is free
     * @param heard the entries that begin, or go on, because their client was heard of. Where leases say who lives, the
     *     lease of each that {@link Entry#begins} is made, and that of each other one renewed, for {@link Entry#lasts}
     *     nanoseconds, before the write; the write has to find that the leases which were renewed still stand
     * @param notices who is to be told of what when it is written. A store that can speak passes each to
     *     {@link Listener#told} of its client; one whose clients watch their rows need not
     */
    record Write(LockKey key, long expected, Row row, List<Entry> heard, List<Notice> notices) {
        /**
         * Copies the lists.
         *
         * @param key see the record
         * @param expected see the record
         * @param row see the record
         * @param heard see the record
         * @param notices see the record
         */
        public Write {
            Objects.requireNonNull(key, "key");
            Objects.requireNonNull(row, "row");
            heard = List.copyOf(heard);
            notices = List.copyOf(notices);
        }

        /**
         * {@return whether the row that stands at the key is the one that this expects}
         *
         * @param stands the row that stands there
         */
        public boolean isFor(Stored stands) {
            return stands.version() == expected
                    || (expected == IF_FREE && stands.row().isFree());
        }
    }

    /**
     * What became of a write.
     *
     * @param done whether the row was written. If not, it had another version
     * @param stored the row that stands now: what was written, or what stood in its way
     */
    record Written(boolean done, Stored stored) {
        /**
         * Checks that nothing is null.
         *
         * @param done see the record
         * @param stored see the record
         */
        public Written {
            Objects.requireNonNull(stored, "stored");
        }
    }

    /**
     * A key and its row.
     *
     * @param key the key
     * @param stored its row
     */
    record Listed(LockKey key, Stored stored) {
        /**
         * Checks that nothing is null.
         *
         * @param key see the record
         * @param stored see the record
         */
        public Listed {
            Objects.requireNonNull(key, "key");
            Objects.requireNonNull(stored, "stored");
        }
    }

    /**
     * A part of a listing.
     *
     * @param rows in an order of the store's
     * @param next where to go on; empty on the last page
     */
    record Page(List<Listed> rows, Optional<String> next) {
        /**
         * Copies the list.
         *
         * @param rows see the record
         * @param next see the record
         */
        public Page {
            rows = List.copyOf(rows);
            Objects.requireNonNull(next, "next");
        }
    }

    /**
     * How a store speaks unasked, when it has left its own locks. What is said is a hint: one that is lost costs time
     * only.
     */
    interface Listener {
        /**
         * That was said to this client by a write of another, or of its own.
         *
         * @param notice what was said
         */
        void told(Notice notice);

        /**
         * That is how the row stands now; for a store whose clients watch their rows.
         *
         * @param key which lock or semaphore
         * @param stored the row
         */
        void changed(LockKey key, Stored stored);

        /**
         * What concerns the connection, and loops in the background.
         *
         * @return the signals of the client
         */
        LockBackend.Signals signals();
    }

    /**
     * Connects, as {@link LockBackend#start}. A store that stands in no need of that says
     * {@code listener.signals().connected(...)} all the same if it has a name for people.
     *
     * @param listener whom to tell
     * @param client the incarnation of this client
     * @throws Exception if it did not succeed
     */
    default void start(Listener listener, Incarnation client) throws Exception {}

    /**
     * {@return the row of that key, as its last write left it}
     *
     * @param key which lock or semaphore
     * @param deadline when the call has to end
     * @throws Exception if it did not succeed
     */
    Stored read(LockKey key, Deadline deadline) throws Exception;

    /**
     * {@return what a write expects that was decided on that row, which was read} Its version; a store that may forget
     * in a crash that a row became free, and give that version once more, has such a row written because it is free.
     *
     * @param stands the row that was read
     */
    default long expected(Stored stands) {
        return stands.version();
    }

    /**
     * Writes a row in one step, if its version is the one expected, and says what stands there now. Any exception but
     * {@link io.keyway.lock.spi.NotExecutedException} means that it may have been written, or may yet be.
     *
     * @param write what to write
     * @param deadline when the call has to end
     * @return whether it was written, and the row as it stands now
     * @throws Exception if it may have been written; {@code NotExecutedException} if it surely was not
     */
    Written write(Write write, Deadline deadline) throws Exception;

    /**
     * Reads a row and writes what is made of it, while nobody else writes that row: for a client to which others were
     * faster twice, since it is far from the store, and which would lose its lease by that. A store that can lock a row
     * does so for one round trip of this client, and no longer than the deadline, whatever becomes of the client.
     *
     * @param missed the write that failed because of another one: of the same key, and for the same purpose
     * @param decision what to write by the row that stands; empty if nothing. It may be asked several times, and the
     *     last answer counts
     * @param deadline when the call has to end
     * @return what became of it, not done if nothing was to be written; empty if this store cannot lock a row, and has
     *     done nothing, as by default
     * @throws Exception as {@link #write}
     */
    default Optional<Written> writeLocked(Write missed, Function<Stored, Optional<Write>> decision, Deadline deadline)
            throws Exception {
        return Optional.empty();
    }

    /**
     * As {@link #write} of each, in order, each on its own; overridden where several go in one request.
     *
     * @param writes what to write
     * @param deadline when the call has to end
     * @return what became of each, in the same order
     * @throws Exception if any may have been written and this is not known
     */
    default List<Written> writeAll(List<Write> writes, Deadline deadline) throws Exception {
        List<Written> all = new ArrayList<>(writes.size());
        for (Write write : writes) {
            all.add(write(write, deadline));
        }
        return all;
    }

    /**
     * Renews the leases of entries that wait, which stand in their row as they are, so that the row has not to be
     * written: for a store where leases say who lives, and whose waiters would else write one row in turn whenever one
     * of them asks.
     *
     * @param key which lock or semaphore
     * @param waiters of this client, in the row that was read just now
     * @param deadline when the call has to end
     * @return whether the lease of each was renewed and still stands; if not, as without such leases, the row is
     *     written
     * @throws Exception if it did not succeed
     */
    default boolean renewWaiters(LockKey key, List<Entry> waiters, Deadline deadline) throws Exception {
        return false;
    }

    /**
     * Says whether a request of this client waits for that key, whenever that changes: from the answer that it waits,
     * until it is granted or over, however it ended. For a store that looks or listens only while somebody waits.
     * Returns at once, and calls nothing of the client.
     *
     * @param key which lock or semaphore
     * @param waits whether one does now
     */
    default void waits(LockKey key, boolean waits) {}

    /**
     * {@return the next rows of keys whose name begins with the prefix, free ones left out or not; needed with LIST}
     *
     * @param prefix of the names
     * @param after where to go on, by the page before
     * @param max the most rows; at least 1
     * @param deadline when the call has to end
     * @throws Exception if it did not succeed
     */
    default Page list(String prefix, Optional<String> after, int max, Deadline deadline) throws Exception {
        throw new UnsupportedFeatureException(Feature.LIST, "this store");
    }

    /** {@return what the store offers; of what the rules offer by themselves see {@link RowBackend#FEATURES}} */
    Set<Feature> features();

    /** {@return what the store promises} */
    Guarantees guarantees();

    /**
     * {@return the ttl that the store can keep where one was asked for: not less} Belief, renewal and listings are
     * reckoned from it. By default any.
     *
     * @param ttl that was asked for
     */
    default Duration agreed(Duration ttl) {
        return ttl;
    }

    /** {@return the rules by which its rows change} */
    default RowRules rules() {
        return new RowRules();
    }

    /**
     * As {@link LockBackend#prompt}.
     *
     * @return whether each call surely ends within its deadline; by default false
     */
    default boolean prompt() {
        return false;
    }

    /**
     * {@return something of the store's own, as its driver}
     *
     * @param <T> the type
     * @param type of what is asked for
     */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    /**
     * Disconnects.
     *
     * @throws Exception if it did not succeed
     */
    @Override
    default void close() throws Exception {}
}
