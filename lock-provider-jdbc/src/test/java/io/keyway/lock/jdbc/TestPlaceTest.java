// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.testing.FloorsBesideUse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on a database that applications use. */
class TestPlaceTest {
    @Test
    void theKitLeavesH2AsItFoundIt(@TempDir Path folder) throws Exception {
        try (H2Server server = H2Server.start()) {
            String url = server.inFiles(folder);
            assertThat(FloorsBesideUse.tokensUsed(url, url + ";lock.tokenFloor=100"))
                    .isBetween(1L, 10_000L);
            assertThat(tables(url)).contains("keyway_lock").noneMatch(name -> name.startsWith("tck_"));
        }
    }

    @Test
    void theKitLeavesPostgresAsItFoundIt() throws Exception {
        String url = PostgresServer.shared().url("place");
        assertThat(FloorsBesideUse.tokensUsed(url, url + "&lock.tokenFloor=100"))
                .isBetween(1L, 10_000L);
        assertThat(tables(url)).contains("keyway_lock").noneMatch(name -> name.startsWith("tck_"));
    }

    private static List<String> tables(String url) throws Exception {
        List<String> names = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                ResultSet tables = connection.getMetaData().getTables(null, null, "%", null)) {
            while (tables.next()) {
                names.add(tables.getString("TABLE_NAME").toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }
}
