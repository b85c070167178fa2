// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Serves {@code lock:} and any JDBC URL: a table in that database. */
public final class JdbcProvider implements LockProvider {

    /** For the service loader. */
    public JdbcProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    @Override
    public List<String> protocols() {
        return Dialects.names();
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Keyway JDBC", "0.1.0", ProviderInfo.API_LEVEL, JdbcOptions.ALL);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Dialect dialect = Dialects.of(url);
        return isSession(url.option(JdbcOptions.MODE).orElse(JdbcOptions.Mode.TABLE))
                ? JdbcGuarantees.SESSION
                : JdbcGuarantees.features(dialect);
    }

    /** A database within this process is shared by nobody else, wherever its files are. */
    @Override
    public Scope scope(LockUrl url) {
        String driver = url.opaque().orElse("").toLowerCase(Locale.ROOT);
        boolean embedded = driver.startsWith("jdbc:h2:")
                && !driver.matches("jdbc:h2:(tcp|ssl):.*")
                && !driver.contains(";auto_server=true");
        return embedded ? Scope.JVM : Scope.NETWORK;
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        String table = table(url);
        String schema = table.substring(0, table.indexOf('.') + 1);
        boolean create = url.option(JdbcOptions.CREATE)
                .or(JdbcOptions.CREATE::defaultValue)
                .orElseThrow();
        return create
                ? Optional.of(url.withOption(JdbcOptions.TABLE.name(), schema + "tck_" + word))
                : Optional.empty();
    }

    private static String table(LockUrl url) {
        return url.option(JdbcOptions.TABLE).or(JdbcOptions.TABLE::defaultValue).orElseThrow();
    }

    @Override
    public Map<String, String> ddl() {
        return Dialects.ddl(new TableName(JdbcOptions.TABLE.defaultValue().orElseThrow()));
    }

    @Override
    public Optional<String> ddl(LockUrl url) {
        return Optional.of(Dialects.ddl(Dialects.of(url), new TableName(table(url))));
    }

    @Override
    public LockClient open(OpenRequest request) {
        Dialect dialect = Dialects.of(request.url());
        JdbcSettings settings = JdbcSettings.of(request);
        if (settings.dataSource().isEmpty()) {
            Dialects.requireDriver(settings);
        }
        if (!isSession(settings.get(JdbcOptions.MODE))) {
            return request.over(new TableStore(settings, dialect));
        }
        if (!dialect.hasSessionLocks()) {
            throw new InvalidLockUrlException(settings.url() + ": lock.mode=session is for PostgreSQL, whose sessions"
                    + " have locks; " + dialect.name() + " has none. Leave it out.");
        }
        return request.over(new SessionBackend(settings, dialect));
    }

    private static boolean isSession(JdbcOptions.Mode mode) {
        return mode == JdbcOptions.Mode.SESSION;
    }
}
