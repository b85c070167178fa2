// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TransactionsExampleTest {
    private static final String URL = "lock:native:mem://transactions-example";

    /** Runs both at a time, each with a client of its own. */
    private static <T> List<T> both(Callable<T> one, Callable<T> other) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> each : List.of(threads.submit(one), threads.submit(other))) {
                results.add(each.get(Patience.seconds(60), TimeUnit.SECONDS));
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void transfersInBothDirectionsLoseNothing() throws Exception {
        Map<String, Integer> accounts = new ConcurrentHashMap<>(Map.of("account/7", 100, "account/9", 100));
        try (LockClient one = Locks.open(URL);
                LockClient other = Locks.open(URL)) {
            both(
                    () -> {
                        for (int i = 0; i < 50; i++) {
                            TransactionsExample.transfer(one, accounts, "account/7", "account/9", 1);
                        }
                        return true;
                    },
                    () -> {
                        for (int i = 0; i < 50; i++) {
                            TransactionsExample.transfer(other, accounts, "account/9", "account/7", 1);
                        }
                        return true;
                    });
        }
        assertThat(accounts).isEqualTo(Map.of("account/7", 100, "account/9", 100));
    }

    @Test
    void whoIsAbortedTriesAgainAndComesThrough() throws Exception {
        try (LockClient one = Locks.open(URL);
                LockClient other = Locks.open(URL)) {
            for (int i = 0; i < 20; i++) {
                List<Integer> aborted = both(
                        () -> TransactionsExample.follow(one, Map.of("a", "b"), "a"),
                        () -> TransactionsExample.follow(other, Map.of("b", "a"), "b"));
                assertThat(aborted).allSatisfy(times -> assertThat(times).isBetween(0, 5));
            }
        }
    }

    @Test
    void aReaderBecomesTheWriterIfThereIsSomethingToWrite() throws Exception {
        Map<String, Integer> stock = new HashMap<>();
        try (LockClient client = Locks.open(URL)) {
            assertThat(TransactionsExample.fill(client, stock, "nails")).isTrue();
            assertThat(TransactionsExample.fill(client, stock, "nails")).isFalse();
        }
        assertThat(stock).isEqualTo(Map.of("nails", 10));
    }

    @Test
    void filesAreWrittenBesideEachOtherAndNoneIsLostInAMove() throws Exception {
        Map<String, String> files = new ConcurrentHashMap<>();
        try (LockClient one = Locks.open(URL);
                LockClient other = Locks.open(URL)) {
            both(
                    () -> {
                        for (int i = 0; i < 50; i++) {
                            TransactionsExample.write(one, files, "home/in/" + i, "text");
                        }
                        return true;
                    },
                    () -> {
                        for (int i = 0; i < 50; i++) {
                            TransactionsExample.move(other, files, "home/in", "home/done");
                            TransactionsExample.move(other, files, "home/done", "home/old/" + i % 2);
                        }
                        return true;
                    });
            TransactionsExample.move(one, files, "home/in", "home/done");
        }
        assertThat(files).hasSize(50).allSatisfy((path, text) -> {
            assertThat(path).matches("home/(done|old/[01])/[0-9]+");
            assertThat(text).isEqualTo("text");
        });
    }
}
