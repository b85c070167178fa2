// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
        return JdbcGuarantees.features(Dialects.of(url));
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
    public Map<String, String> ddl() {
        return Dialects.ddl(new TableName(JdbcOptions.TABLE.defaultValue().orElseThrow()));
    }

    @Override
    public LockClient open(OpenRequest request) {
        Dialect dialect = Dialects.of(request.url());
        return request.over(new TableStore(JdbcSettings.of(request), dialect));
    }
}
