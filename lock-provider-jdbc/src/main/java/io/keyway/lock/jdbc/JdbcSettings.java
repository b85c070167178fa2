// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/** What a client was opened with; whoever needs an option asks for it. */
final class JdbcSettings {

    private final OpenRequest request;

    private JdbcSettings(OpenRequest request) {
        this.request = request;
    }

    static JdbcSettings of(OpenRequest request) {
        return new JdbcSettings(request);
    }

    /** Returns the value of an option that has one. */
    <T> T get(Option<T> option) {
        return request.get(option);
    }

    /** Returns the URL, its secrets masked as text. */
    LockUrl url() {
        return request.url();
    }

    /** Returns the URL of the driver, with its secrets. */
    String driverUrl() {
        return request.url().opaque().orElseThrow();
    }

    /** Returns where the database is, for people: the URL as far as it has no parameters. */
    String place() {
        return request.url().toString().replaceFirst("^lock:jdbc:", "").replaceFirst("[?;].*", "");
    }

    String clientName() {
        return request.clientName();
    }

    ClassLoader loader() {
        return request.loader();
    }

    /** Returns the application's connections, if it gives them. */
    Optional<DataSource> dataSource() {
        return request.find(JdbcOptions.DATA_SOURCE);
    }

    TableName table() {
        return new TableName(get(JdbcOptions.TABLE));
    }

    Optional<TokenFloor> floor() {
        return TokenFloor.of(request);
    }

    Duration connectTimeout() {
        return get(CommonOptions.CONNECT_TIMEOUT);
    }

    Duration requestTimeout() {
        return get(CommonOptions.REQUEST_TIMEOUT);
    }

    /** Hides the password. */
    @Override
    public String toString() {
        return "JdbcSettings[" + request.url() + "]";
    }
}
