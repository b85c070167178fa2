// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The dialects, by the word after {@code jdbc:} in a URL; each is made for the URL of the driver. */
final class Dialects {

    private static final Map<String, Function<String, Dialect>> ALL = all();

    /** What Maven calls the drivers. */
    private static final Map<String, String> DRIVERS = Map.of(
            "postgresql", "org.postgresql:postgresql",
            "h2", "com.h2database:h2",
            "mariadb", "org.mariadb.jdbc:mariadb-java-client",
            "mysql", "com.mysql:mysql-connector-j");

    private Dialects() {}

    private static Map<String, Function<String, Dialect>> all() {
        Map<String, Function<String, Dialect>> all = new LinkedHashMap<>();
        all.put("postgresql", driverUrl -> new PostgresDialect());
        all.put("h2", H2Dialect::new);
        all.put("mariadb", driverUrl -> new MariaDbDialect());
        // The other driver; the server has to be MariaDB all the same.
        all.put("mysql", driverUrl -> new MariaDbDialect());
        return all;
    }

    static List<String> names() {
        return List.copyOf(ALL.keySet());
    }

    /**
     * Checks that there is a driver, which no retry would bring.
     *
     * @param settings with a URL that has a dialect
     * @throws InvalidLockUrlException if none on the class path takes it
     */
    static void requireDriver(JdbcSettings settings) {
        try {
            DriverManager.getDriver(settings.driverUrl());
        } catch (SQLException e) {
            LockUrl url = settings.url();
            throw new InvalidLockUrlException(
                    url + ": no JDBC driver on the class path takes that URL. Put the driver's"
                            + " jar there (" + DRIVERS.get(url.protocol().orElseThrow()) + ")"
                            + "; for the command keyway, into the variable KEYWAY_CLASSPATH.");
        }
    }

    /** What makes the tables, for each of them. */
    static Map<String, String> ddl(TableName table) {
        Map<String, String> all = new LinkedHashMap<>();
        ALL.forEach((name, dialect) -> all.put(name, ddl(dialect.apply(""), table)));
        return all;
    }

    /** What makes those tables in such a database. */
    static String ddl(Dialect dialect, TableName table) {
        return String.join(";\n\n", dialect.ddl(table)) + ";\n";
    }

    /** One of that URL, for one client; an error that names them all if there is none. */
    static Dialect of(LockUrl url) {
        String name = url.protocol().orElse("");
        Function<String, Dialect> dialect = ALL.get(name);
        if (dialect == null) {
            throw new InvalidLockUrlException(url + ": locks in a database of '" + name + "' are not known here, but in"
                    + " those of " + String.join(", ", ALL.keySet()) + ". How to add one: a Dialect of"
                    + " lock-provider-jdbc, see docs/providers/jdbc.md.");
        }
        return dialect.apply(url.opaque().orElse(""));
    }
}
