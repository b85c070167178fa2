// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is logged though nobody throws it: once when it begins, once when it is over. */
class ClientLogTest extends ReferenceClients {

    private static final Logger LOG = Logger.getLogger(ClientLog.class.getName());

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            String line = new SimpleFormatter().formatMessage(record);
            assertThat(record.getLevel()).isEqualTo(line.contains("answered again") ? Level.INFO : Level.WARNING);
            lines.add(line);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private LockClient client;

    @BeforeEach
    void listen() {
        LOG.addHandler(handler);
        LOG.setUseParentHandlers(false);
        client = open("logging");
    }

    @AfterEach
    void unlisten() {
        LOG.removeHandler(handler);
        LOG.setUseParentHandlers(true);
    }

    @Test
    void anAcquireWithoutAnswerIsToldOnceAndItsEndToo() throws Exception {
        client.lock("x").acquire().close();
        faults(client).cut(true);
        CompletableFuture<Lease> first = client.lock("x").acquireAsync();
        CompletableFuture<Lease> second = client.lock("y").acquireAsync();
        time(client).advance(Duration.ofSeconds(1));
        assertThat(lines).isEmpty();
        time(client).advance(Duration.ofMinutes(5));
        assertThat(lines).hasSize(1);
        assertThat(lines.get(0)).contains("logging has had no answer about the lock", "and goes on asking: ");
        faults(client).cut(false);
        time(client).advance(Duration.ofSeconds(5));
        first.get().close();
        second.get().close();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1)).contains("logging is answered again");
    }

    @Test
    void anOutageWithinAMinuteOfTheLastIsNotToldAgain() throws Exception {
        for (int i = 0; i < 3; i++) {
            faults(client).cut(true);
            CompletableFuture<Lease> waits = client.lock("x").acquireAsync();
            time(client).advance(Duration.ofSeconds(8));
            faults(client).cut(false);
            time(client).advance(Duration.ofSeconds(5));
            waits.get().close();
        }
        assertThat(lines).hasSize(2);
    }

    @Test
    void lossesAreToldButNotThousandsOfThem() throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            leases.add(client.lock("x" + i).acquire());
        }
        faults(client).cut(true);
        time(client).advance(Duration.ofSeconds(20));
        assertThat(leases).noneMatch(Lease::isHeld);
        assertThat(lines).hasSize(ClientLog.LOSSES + 1);
        assertThat(lines.get(0)).contains("logging has lost the lock x0 (token ", "EXPIRED, no renewal was confirmed");
        assertThat(lines.get(ClientLog.LOSSES)).contains("loses more leases");
    }

    @Test
    void aCloseIsNoLossToTell() throws Exception {
        Lease lease = client.lock("x").acquire();
        client.close();
        assertThat(lease.isHeld()).isFalse();
        assertThat(lines).isEmpty();
    }
}
