// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.function.Function;

/**
 * What is said to a database in its own words. Each call has a connection for itself, in autocommit, whose network
 * timeout is set; it begins no thread, repeats nothing and leaves nothing on the connection. Stateless.
 *
 * <p>The clock is the database's, read in the statement that reads or writes the row; never one that stands still
 * during a transaction. Versions are taken from a sequence while the row that they are for is locked, so that they rise
 * for each key. A row that is over may go ({@link #sweep}), if no version of a later row of that key can be lower.
 */
interface Dialect {

    /** What a failed statement has done. */
    enum Failure {
        /** Nothing, and the same statement may well succeed now: a serialization failure, a deadlock. */
        REPEAT,
        /** Nothing: the database has refused it. */
        REFUSED,
        /** Nothing: this server takes no writes, as a standby does, and another one behind the same address may. */
        READ_ONLY,
        /** The database does not accept who asks, and will not. */
        UNWELCOME,
        /** Nobody knows. */
        UNKNOWN
    }

    /** {@return the name for people, as {@code PostgreSQL}} */
    String name();

    /** {@return the condition under which grants stay, for people} */
    default String keeps() {
        return "as long as the database keeps what it has committed";
    }

    /** {@return what becomes of grants when another server takes over, for people} */
    default String failover() {
        return name() + " may have replicas that lag behind: one that takes over may lack a grant or its"
                + " last renewal, and what it lacks is given again";
    }

    /**
     * {@return the statements that make the tables and the sequence}
     *
     * @param table their names
     */
    List<String> ddl(TableName table);

    /**
     * {@return what the driver has to know for connections of our own, beside the URL; what the URL says goes before}
     *
     * @param client the name of the client
     * @param connectTimeout the bound of connecting
     * @param requestTimeout the bound of one statement, for drivers to which a connection cannot say it later
     */
    Properties driver(String client, Duration connectTimeout, Duration requestTimeout);

    /**
     * Makes a new connection of our own ready: statements end at the server, too, and see what is committed.
     *
     * @param connection that nobody has used
     * @param requestTimeout the bound of one statement
     */
    void begin(Connection connection, Duration requestTimeout) throws SQLException;

    /**
     * {@return whether what accepted the connection may not be the server, but a pool, so that a session of the
     * server may be another's before or after}
     *
     * @param connection one that works
     */
    default boolean isPooled(Connection connection) throws SQLException {
        return false;
    }

    /**
     * Has the driver leave nothing in the session beyond a transaction, as names of prepared statements, for what is
     * done on that connection from now on.
     *
     * @return what has it do so again; empty if the driver cannot be asked for that
     */
    default Optional<Undo> leaveNothing(Connection connection) throws SQLException {
        return Optional.of(() -> {});
    }

    /** Has a connection be as it was. */
    @FunctionalInterface
    interface Undo {
        void run() throws SQLException;
    }

    /**
     * {@return what a statement that failed has done}
     *
     * @param e how it failed
     */
    Failure failure(SQLException e);

    /**
     * Sets of the database what makes it fit for locks, if the user may; before anything else is asked there.
     *
     * @param connection where to set it
     */
    default void prepare(Connection connection) throws SQLException {}

    /**
     * {@return what endangers locks in that database, in sentences for people; none if nothing is known to}
     *
     * @param connection where to ask
     */
    List<String> dangers(Connection connection) throws SQLException;

    /**
     * {@return why rows cannot be written there at all, as on a standby; empty if they can}
     *
     * @param connection where to ask
     */
    Optional<String> obstacle(Connection connection) throws SQLException;

    /**
     * {@return whether the tables are there}
     *
     * @param connection where to ask
     * @param table their names
     */
    boolean hasTables(Connection connection, TableName table) throws SQLException;

    /**
     * {@return the rows of those keys, in their order}
     *
     * @param connection where to ask
     * @param table the names
     * @param keys none twice
     */
    List<Stored> read(Connection connection, TableName table, List<LockKey> keys) throws SQLException;

    /**
     * Writes each row if its version is the one expected, and has the database tell other clients, if it can.
     *
     * @param connection where to write
     * @param table the names
     * @param writes no key twice
     * @param notices who is to be told of what, for each write, if it is done
     * @return what became of each, in their order
     */
    List<Written> write(Connection connection, TableName table, List<Write> writes, List<List<Notice>> notices)
            throws SQLException;

    /**
     * A write of a row that is locked.
     *
     * @param write what to write
     * @param notices who is to be notified of it by the database
     */
    record Locked(Write write, List<Notice> notices) {}

    /** {@return whether {@link #writeLocked} can be asked for} */
    default boolean locksRows() {
        return false;
    }

    /**
     * Reads a row, keeps others from writing it, and writes what is made of it: in one transaction, which the database
     * ends at the deadline if this client does not.
     *
     * @param connection where to write
     * @param table the names
     * @param key of the row
     * @param deadline when it has to be over
     * @param decision what to write by the row that stands; empty if nothing. It is not asked if there is no row
     * @return what became of it, not done if nothing was written
     */
    default Written writeLocked(
            Connection connection,
            TableName table,
            LockKey key,
            Deadline deadline,
            Function<Stored, Optional<Locked>> decision)
            throws SQLException {
        throw new UnsupportedOperationException(name());
    }

    /**
     * {@return the next rows that are not free of names that begin with the prefix, in the order of their ids, and the
     * id after which the next page begins}
     *
     * @param connection where to ask
     * @param table the names
     * @param prefix of the names
     * @param after the id of the last row of the page before; empty text for the first page
     * @param max the most rows
     */
    Page list(Connection connection, TableName table, String prefix, String after, int max) throws SQLException;

    /**
     * {@return whether no client has begun to sweep for that long; then this one does, and the database remembers it}
     *
     * @param connection where to write
     * @param table the names
     * @param lately how long that lasts
     */
    boolean beginsSweep(Connection connection, TableName table, Duration lately) throws SQLException;

    /**
     * A part of the table was looked at.
     *
     * @param gone how many rows of it are gone
     * @param next where the next part begins; empty if this was the last one
     */
    record Swept(int gone, OptionalLong next) {}

    /**
     * Takes away rows in which all has been over for that long, of a part of the table. Who writes meanwhile waits for
     * no longer than a few hundred rows take to go.
     *
     * @param connection where to write
     * @param table the names
     * @param kept how long rows stay
     * @param from where the part begins; 0 for the first one
     * @return what became of it
     */
    Swept sweep(Connection connection, TableName table, Duration kept, long from) throws SQLException;

    /**
     * {@return the floor of tokens that was given; empty if none was}
     *
     * @param connection where to ask
     * @param table the names
     */
    OptionalLong floor(Connection connection, TableName table) throws SQLException;

    /**
     * {@return the expression that takes the next version from the sequence}
     *
     * @param table the names
     */
    default String nextToken(TableName table) {
        return "NEXT VALUE FOR " + table.tokens();
    }

    /**
     * Raises the versions of all later writes above that floor, and keeps it if it is higher than the one before.
     *
     * @param connection where to write
     * @param table the names
     * @param floor the floor
     */
    void raise(Connection connection, TableName table, long floor) throws SQLException;

    /**
     * {@return whether {@link #write} of several rows, all expected free or none, is one step that a failure has undone
     * as a whole} Else it is asked for one row at a time.
     */
    boolean writesAtOnce();

    /** {@return whether {@link Connection#abort} ends a statement that another thread waits for, at once} */
    default boolean endsAtAbort() {
        return false;
    }

    /** {@return whether a session can have locks as PostgreSQL's do} */
    default boolean hasSessionLocks() {
        return false;
    }

    /** {@return whether the database tells clients of notices, where nothing stands in between} */
    boolean tells();

    /**
     * {@return by what the database tells clients of notices; empty if it cannot, so that they look}
     *
     * @param connection one of those that listen could have
     */
    Optional<Channel> channel(Connection connection);

    /** How a connection listens. */
    interface Channel {
        /**
         * Begins to listen to what is told to that client.
         *
         * @param client its incarnation, as text
         */
        void listen(String client) throws SQLException;

        /**
         * {@return what was told, waiting for it at most so long}
         *
         * @param limit at least 1 ms
         */
        List<String> next(Duration limit) throws SQLException;

        /**
         * Tells something to that client, for a trial of the way.
         *
         * @param client its incarnation, as text
         * @param text what to tell
         */
        void tell(String client, String text) throws SQLException;
    }
}
