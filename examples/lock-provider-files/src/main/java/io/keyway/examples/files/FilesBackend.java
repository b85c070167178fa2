// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** One client's way to the table. */
final class FilesBackend implements LockBackend {

    static final Set<Feature> FEATURES = Set.of(Feature.READ_WRITE, Feature.SEMAPHORE, Feature.FENCING, Feature.FIFO);

    private final Table table;
    private String client = "";

    FilesBackend(Table table) {
        this.table = table;
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        String disk = "a file system of this machine with hard links, and nobody else writes to the directory";
        String clock = "System.nanoTime() is one clock for all processes of the machine; " + disk;
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, disk),
                new Guarantee(Grade.TIMED, clock),
                new Guarantee(Grade.ALWAYS, "the machine does not lose its power; " + disk),
                new Guarantee(Grade.NO, "one disk"),
                Duration.ofMillis(1500),
                Duration.ofHours(24));
    }

    @Override
    public void start(Signals signals, Incarnation incarnation) {
        client = incarnation + ":";
    }

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        return table.change(limit, now -> {
            Place fresh = place(request, now);
            Place mine = table.places.getOrDefault(fresh.request(), fresh);
            if (mine.token() < 0) {
                return new Attempt.Refused(List.of());
            }
            if (mine.token() > 0 || fits(mine, request.capacity())) {
                mine = table.put(mine.with(mine.token() > 0 ? mine.token() : ++table.token, now));
                return new Attempt.Granted(new Grant(request.id(), request.key(), mine.token(), request.ttl(), ""));
            }
            if (request.queue()) {
                table.put(mine.end() - now > mine.ttl() / 2 ? mine : fresh);
            }
            long soon = Math.min(20 + 20 * ahead(mine), request.ttl().toMillis() / 4);
            return new Attempt.Waiting(Duration.ofMillis(soon), OptionalInt.empty(), List.of());
        });
    }

    private boolean fits(Place mine, int capacity) {
        List<Place> holders = holders(mine.key());
        return ahead(mine) == 0
                && switch (mine.mode()) {
                    case EXCLUSIVE -> holders.isEmpty();
                    case SHARED -> holders.stream().allMatch(place -> place.mode() == LockMode.SHARED);
                    case PERMITS -> capacity - permits(holders) >= mine.permits();
                };
    }

    /** How many wait before it. */
    private long ahead(Place mine) {
        return table.places.values().stream()
                .takeWhile(place -> !place.request().equals(mine.request()))
                .filter(place -> place.token() == 0 && place.key().equals(mine.key()))
                .count();
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        return table.change(
                limit,
                now -> grants.stream()
                        .map(grant -> holder(grant).map(place -> table.put(place.with(grant.token(), now))))
                        .map(renewed -> renewed.isPresent() ? Answer.DONE : Answer.NOT_HELD)
                        .toList());
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return table.change(limit, now -> {
            Optional<Place> ended = holder(grant).map(place -> table.places.remove(place.request()));
            return ended.isPresent() ? Answer.DONE : Answer.NOT_HELD;
        });
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        table.change(limit, now -> table.put(place(request, now).with(-1, now)));
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        return table.change(limit, now -> (int) Math.max(0, capacity - permits(holders(name(key)))));
    }

    private static String name(LockKey key) {
        return key.kind() + ":" + key.name().escaped();
    }

    private Place place(Request request, long now) {
        String id = client + request.id();
        long ttl = request.ttl().toNanos();
        return new Place(name(request.key()), id, request.mode(), request.permits(), 0, ttl, now + ttl);
    }

    private Optional<Place> holder(Grant grant) {
        return Optional.ofNullable(table.places.get(client + grant.id()))
                .filter(place -> place.token() == grant.token());
    }

    private List<Place> holders(String key) {
        return table.places.values().stream()
                .filter(place -> place.token() > 0 && place.key().equals(key))
                .toList();
    }

    private static long permits(List<Place> holders) {
        return holders.stream().mapToLong(Place::permits).sum();
    }
}
