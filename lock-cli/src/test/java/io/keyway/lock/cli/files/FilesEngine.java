// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.files;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.cli.files.SharedTable.Row;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** One thread looks at all requests of a client every few milliseconds: asks, renews, and sees what others ended. */
final class FilesEngine implements LockEngine {
    private static final long PERIOD_MILLIS = 10;

    private final SharedTable table;
    private final TimeSource time;
    private final String client;
    private final Set<Feature> features;
    private final Map<Long, Asked> asked = new HashMap<>();
    private final Thread thread = new Thread(this::work, "keyway-files");
    private volatile boolean closed;

    FilesEngine(SharedTable table, TimeSource time, String client, Set<Feature> features) {
        this.table = table;
        this.time = time;
        this.client = client;
        this.features = features;
        thread.setDaemon(true);
        thread.start();
    }

    /** A request of this client, and what it stands on once granted. */
    private final class Asked implements Hold {
        final Request request;
        final Sink sink;
        volatile long deadline;
        long token;
        boolean waits;

        Asked(Request request, Sink sink) {
            this.request = request;
            this.sink = sink;
        }

        @Override
        public Duration ttl() {
            return request.ttl();
        }

        @Override
        public long deadlineNanos() {
            return deadline;
        }

        @Override
        public CompletionStage<Answer> release(long released) {
            boolean held = remove(request.id());
            return CompletableFuture.completedFuture(held ? Answer.DONE : Answer.NOT_HELD);
        }

        @Override
        public void lapsed(long lapsed) {
            remove(request.id());
        }

        @Override
        public Optional<String> server() {
            return Optional.empty();
        }
    }

    @Override
    public TimeSource time() {
        return time;
    }

    @Override
    public void submit(Request request, Sink sink) {
        Asked mine = new Asked(request, sink);
        synchronized (asked) {
            asked.put(request.id(), mine);
        }
        look(mine);
    }

    @Override
    public void withdraw(Request request) {
        remove(request.id());
    }

    private boolean remove(long id) {
        synchronized (asked) {
            asked.remove(id);
        }
        return table.change(content -> content.rows.removeIf(row -> isMine(row, id)));
    }

    private boolean isMine(Row row, long id) {
        return row.client.equals(client) && row.id == id;
    }

    private void work() {
        try {
            while (!closed) {
                List<Asked> all;
                synchronized (asked) {
                    all = new ArrayList<>(asked.values());
                }
                all.forEach(this::look);
                Thread.sleep(PERIOD_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void look(Asked mine) {
        synchronized (asked) {
            if (!asked.containsKey(mine.request.id())) {
                return;
            }
        }
        long sent = System.nanoTime();
        long ttl = mine.request.ttl().toNanos();
        List<Runnable> told = new ArrayList<>();
        table.change(content -> {
            Row row = content.rows.stream()
                    .filter(each -> isMine(each, mine.request.id()))
                    .findFirst()
                    .orElse(null);
            if (mine.token != 0 && (row == null || !row.broken.isEmpty())) {
                String why = row == null ? "" : row.broken;
                content.rows.remove(row);
                told.add(() -> mine.sink.ended(
                        why.isEmpty() ? LeaseLoss.Cause.DENIED : LeaseLoss.Cause.BROKEN, "broken: " + why));
                return null;
            }
            if (row == null) {
                row = rowOf(mine.request);
                content.rows.add(row);
            }
            row.end = System.nanoTime() + ttl;
            if (mine.token != 0) {
                mine.deadline = sent + ttl / 4 * 3;
            } else if (admits(content.of(row), row)) {
                row.token = ++content.token;
                row.since = System.nanoTime();
                mine.token = row.token;
                mine.deadline = sent + ttl / 4 * 3;
                told.add(() -> mine.sink.granted(mine, mine.token));
            } else if (!mine.request.queue()) {
                content.rows.remove(row);
                told.add(() -> mine.sink.refused(List.of(new Owner("another", Map.of()))));
            } else if (!mine.waits) {
                mine.waits = true;
                told.add(() -> mine.sink.waiting(OptionalInt.empty(), List.of()));
            }
            return null;
        });
        told.forEach(Runnable::run);
        if (!told.isEmpty() && mine.token == 0 && !mine.waits) {
            synchronized (asked) {
                asked.remove(mine.request.id());
            }
        }
    }

    private Row rowOf(Request request) {
        Row row = new Row();
        row.kind = request.key().kind().name();
        row.name = request.key().name().toString();
        row.client = client;
        row.id = request.id();
        row.mode = request.mode().name();
        row.permits = request.permits();
        row.capacity = request.capacity();
        row.since = System.nanoTime();
        row.metadata.putAll(request.owner().metadata());
        return row;
    }

    /** First come, first served: whoever came before must get along with it. */
    private static boolean admits(List<Row> rows, Row mine) {
        int permits = mine.permits;
        for (Row other : rows) {
            if (other == mine) {
                return true;
            }
            boolean bothShared = mine.mode.equals("SHARED") && other.mode.equals("SHARED");
            boolean bothPermits = mine.mode.equals("PERMITS") && other.token != 0;
            permits += other.permits;
            if (!bothShared && !(bothPermits && permits <= mine.capacity)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Set<Feature> features() {
        return features;
    }

    @Override
    public Guarantees guarantees() {
        Guarantee timed = new Guarantee(Grade.TIMED, "one machine");
        return new Guarantees(timed, timed, timed, timed, Duration.ofMillis(100), Duration.ofHours(1));
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, Optional<String> after, int max, Duration limit) {
        return CompletableFuture.completedFuture(table.change(content -> {
            Map<LockKey, List<Row>> byKey = new LinkedHashMap<>();
            for (Row row : content.rows) {
                LockKey key = new LockKey(LockKey.Kind.valueOf(row.kind), LockName.of(row.name));
                byKey.computeIfAbsent(key, each -> new ArrayList<>()).add(row);
            }
            List<LockStatus> found = new ArrayList<>();
            byKey.forEach((key, rows) -> found.add(status(key, rows)));
            return new LockPage(found, Optional.empty());
        }));
    }

    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key, Duration limit) {
        return list("", Optional.empty(), 1, limit)
                .thenApply(page -> page.locks().stream()
                        .filter(status -> status.key().equals(key))
                        .findFirst());
    }

    private static LockStatus status(LockKey key, List<Row> rows) {
        List<LockStatus.Holder> holders = new ArrayList<>();
        List<LockStatus.Waiter> waiters = new ArrayList<>();
        for (Row row : rows) {
            LockMode mode = LockMode.valueOf(row.mode);
            Duration since = Duration.ofNanos(System.nanoTime() - row.since);
            if (row.token != 0) {
                holders.add(new LockStatus.Holder(
                        row.client, mode, row.permits, OptionalLong.of(row.token), since, row.metadata));
            } else {
                waiters.add(new LockStatus.Waiter(
                        row.client, mode, row.permits, OptionalLong.empty(), since, row.metadata));
            }
        }
        return new LockStatus(key, holders, waiters);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        return CompletableFuture.completedFuture(table.change(content -> {
            for (Row row : content.rows) {
                if (row.token == token && row.name.equals(key.name().toString())) {
                    row.broken = reason;
                    return true;
                }
            }
            return false;
        }));
    }

    @Override
    public CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit) {
        return CompletableFuture.completedFuture(capacity);
    }

    @Override
    public void close() {
        closed = true;
        try {
            // Not in the middle of a change.
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
