// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Requests for permits of a container as transactions change it, and clients that decide by listings of before: what is
 * granted stays granted, nobody beyond its capacity, and each in its turn.
 */
class PromotionTest {

    /** What a client has listed: the names, and the version of the container then. */
    private record Seen(List<String> names, int version) {}

    /** The ensemble, as far as it matters here. */
    private static final class Ensemble {
        private final SplittableRandom random;
        private final List<String> names = new ArrayList<>();
        private final List<Seen> history = new ArrayList<>();
        private final Set<String> granted = new HashSet<>();
        private int number;
        private int version;
        private int promotions;
        private int refusals;

        Ensemble(SplittableRandom random) {
            this.random = random;
        }

        void step(int step) {
            int what = random.nextInt(10);
            if (what < 4 && names.size() < 12) {
                int capacity = 1 + random.nextInt(4);
                create("s-" + Integer.toHexString(step) + "-p" + (1 + random.nextInt(capacity)) + "c" + capacity + "-");
            } else if (what < 6 && !names.isEmpty()) {
                names.remove(random.nextInt(names.size()));
            } else if (!names.isEmpty()) {
                promote(names.get(random.nextInt(names.size())));
            }
            judge();
            history.add(new Seen(List.copyOf(names), version));
        }

        private void create(String prefix) {
            names.add(prefix + "0".repeat(10 - Integer.toString(number).length()) + number);
            number++;
        }

        /** By one of the last listings. */
        private void promote(String own) {
            Seen seen = history.get(Math.max(0, history.size() - 1 - random.nextInt(6)));
            Optional<RequestQueue.Promotion> promotion =
                    RequestQueue.of(seen.names()).promotion(own);
            if (promotion.isEmpty()) {
                return;
            }
            boolean inOrder = promotion.get().present().isEmpty();
            if (!names.containsAll(promotion.get().present()) || (!inOrder && seen.version() != version)) {
                refusals++;
                return;
            }
            version++;
            promotions++;
            NodeName was = NodeName.parse(own).orElseThrow();
            names.remove(own);
            String prefix = own.substring(0, own.lastIndexOf('-'));
            create(prefix + "g" + promotion.get().from() + "-");
            RequestQueue after = RequestQueue.of(names);
            assertThat(inOrder || after.permitsOut() <= was.capacity())
                    .as(() -> own + " was promoted beyond its capacity in " + names)
                    .isTrue();
            assertThat(after.waiters())
                    .as(() -> own + " was promoted before one that states no less in " + names)
                    .noneMatch(waiter -> waiter.number() < was.number() && waiter.capacity() >= was.capacity());
        }

        private void judge() {
            RequestQueue queue = RequestQueue.of(names);
            Set<String> holds = new HashSet<>();
            long out = 0;
            for (NodeName holder : queue.holders()) {
                holds.add(holder.name());
                out += holder.isPromoted() || granted.contains(holder.name()) ? holder.permits() : 0;
            }
            for (String before : granted) {
                assertThat(holds.contains(before) || !names.contains(before))
                        .as(() -> before + " was granted and is there, and holds no more in " + names)
                        .isTrue();
            }
            for (NodeName holder : queue.holders()) {
                if (!holder.isPromoted() && granted.add(holder.name())) {
                    out += holder.permits();
                    assertThat(out)
                            .as(() -> holder + " was granted beyond its capacity in " + names)
                            .isLessThanOrEqualTo(holder.capacity());
                }
            }
            granted.addAll(holds);
            granted.retainAll(names);
        }
    }

    @Test
    void whatIsGrantedStaysGrantedAndNobodyBeyondItsCapacity() {
        int promotions = 0;
        int refusals = 0;
        for (int seed = 0; seed < 100; seed++) {
            Ensemble ensemble = new Ensemble(new SplittableRandom(seed));
            for (int step = 0; step < 200; step++) {
                ensemble.step(step);
            }
            promotions += ensemble.promotions;
            refusals += ensemble.refusals;
        }
        assertThat(promotions).isGreaterThan(500);
        assertThat(refusals).as("listings that were too old").isGreaterThan(20);
    }
}
