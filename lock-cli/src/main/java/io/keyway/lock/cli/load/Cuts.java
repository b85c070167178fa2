// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import io.keyway.lock.tck.journal.MachineClock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The partitions of a load: each time it is due, 1 to n - 1 of the clients that are not cut, at random, are cut from
 * all servers for a while. For one thread.
 */
final class Cuts {
    private record Open(int number, List<Integer> clients, long until, boolean sure) {}

    private final LoadPlan plan;
    private final LoadRecord record;
    private final SplittableRandom random;
    private final Consumer<String> say;
    private final List<Open> open = new ArrayList<>();
    private List<LoadProcess> clients = List.of();
    private long next = Long.MAX_VALUE;

    Cuts(LoadPlan plan, LoadRecord record, SplittableRandom random, Consumer<String> say) {
        this.plan = plan;
        this.record = record;
        this.random = random;
        this.say = say;
    }

    void begin(List<LoadProcess> all, long now) {
        clients = all;
        plan.cutEvery().ifPresent(every -> next = now + every.toNanos());
    }

    /** When {@link #turn} has something to do. */
    long due() {
        return open.stream().mapToLong(Open::until).reduce(next, Math::min);
    }

    /** Cuts and heals what is due. */
    void turn(long now) {
        for (Open each : List.copyOf(open)) {
            if (now >= each.until()) {
                heal(each);
            }
        }
        if (now >= next) {
            next += plan.cutEvery().orElseThrow().toNanos();
            cut(now);
        }
    }

    private void cut(long now) {
        Set<Integer> already = new HashSet<>();
        open.forEach(each -> already.addAll(each.clients()));
        List<Integer> whole = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            if (!already.contains(i)) {
                whole.add(i);
            }
        }
        if (whole.size() < 2) {
            return;
        }
        Collections.shuffle(whole, new Random(random.nextLong()));
        List<Integer> chosen = whole.subList(0, 1 + random.nextInt(whole.size() - 1)).stream()
                .sorted()
                .toList();
        boolean sure = true;
        for (int each : chosen) {
            sure &= clients.get(each).cut();
        }
        int number = record.cut(chosen, MachineClock.now());
        open.add(new Open(number, chosen, now + plan.cutFor().toNanos(), sure));
        say.accept("partition of " + plan.cutFor().toMillis() + " ms between the servers and clients "
                + chosen.stream().map(each -> Integer.toString(each + 1)).collect(Collectors.joining(", ")));
    }

    private void heal(Open cut) {
        long before = MachineClock.now();
        cut.clients().forEach(each -> clients.get(each).heal());
        record.healed(cut.number(), before, cut.sure());
        open.remove(cut);
    }

    /** Heals all. */
    void end() {
        next = Long.MAX_VALUE;
        List.copyOf(open).forEach(this::heal);
    }
}
