// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
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
    private static final List<String> FLOORS = List.of("LK-608", "LK-609", "LK-610");

    /** An application in use, whose URL has a floor, as one that came from another store. */
    private static void checkedBeside(String url, String inUse) throws Exception {
        long before;
        try (LockClient application = Locks.open(inUse)) {
            before = application.lock("nightly").acquire().token();
        }
        TckResult result = TckRunner.run(
                TckSubject.of(url), TckConfig.of(Profile.SMOKE).withOnly(FLOORS).withParallel(1));
        assertThat(result.with(Verdict.PASS)).as("of %s", result.checks()).hasSize(FLOORS.size());
        try (LockClient application = Locks.open(inUse)) {
            long after = application.lock("nightly").acquire().token();
            assertThat(after - before).as("tokens that the kit has used up").isBetween(1L, 10_000L);
        }
    }

    @Test
    void theKitLeavesH2AsItFoundIt(@TempDir Path folder) throws Exception {
        try (H2Server server = H2Server.start()) {
            String url = server.inFiles(folder);
            checkedBeside(url, url + ";lock.tokenFloor=100");
            assertThat(tables(url)).contains("keyway_lock").noneMatch(name -> name.startsWith("tck_"));
        }
    }

    @Test
    void theKitLeavesPostgresAsItFoundIt() throws Exception {
        String url = PostgresServer.shared().url("place");
        checkedBeside(url, url + "&lock.tokenFloor=100");
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
