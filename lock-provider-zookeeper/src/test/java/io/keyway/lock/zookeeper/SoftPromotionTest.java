// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Soft writers that try by listings which are too old, beside readers and writers that come and go. */
class SoftPromotionTest {

    /** The ensemble, as far as it matters here. */
    private static final class Ensemble {
        private final SplittableRandom random;
        /** Whether the name of a soft writer's new node says the number that it got, in place of the one it had to. */
        private final boolean unsafe;

        private final List<String> names = new ArrayList<>();
        private final List<List<String>> history = new ArrayList<>();
        private final Set<String> granted = new HashSet<>();
        private int number;
        private int promotions;
        private int inVain;
        private int refusals;

        Ensemble(SplittableRandom random, boolean unsafe) {
            this.random = random;
            this.unsafe = unsafe;
        }

        void step(int step) {
            int what = random.nextInt(10);
            if (what < 3 && names.size() < 6) {
                create("s-" + Integer.toHexString(step) + "-" + "xsssyq".charAt(random.nextInt(6)) + "-");
            } else if (what < 6 && !names.isEmpty()) {
                names.remove(random.nextInt(names.size()));
            } else if (!names.isEmpty()) {
                promote(names.get(random.nextInt(names.size())));
            }
            judge();
            history.add(List.copyOf(names));
        }

        private String create(String prefix) {
            String name = prefix + String.format("%010d", number++);
            names.add(name);
            return name;
        }

        /** By one of the last listings. */
        private void promote(String own) {
            List<String> seen = history.get(Math.max(0, history.size() - 1 - random.nextInt(4)));
            Optional<RequestQueue.Promotion> promotion = RequestQueue.of(seen).promotion(own);
            if (promotion.isEmpty()) {
                return;
            }
            if (!names.containsAll(promotion.get().present())) {
                refusals++;
                return;
            }
            names.remove(own);
            String[] words = own.split("-", -1);
            String created = create(words[0] + "-" + words[1] + "-" + words[2].charAt(0)
                    + (unsafe ? number : promotion.get().from()) + "-");
            if (NodeName.parse(created).orElseThrow().yields()) {
                inVain++;
            } else {
                promotions++;
            }
        }

        private void judge() {
            RequestQueue queue = RequestQueue.of(names);
            Set<String> holds = new HashSet<>();
            queue.holders().forEach(holder -> holds.add(holder.name()));
            for (String before : granted) {
                assertThat(holds.contains(before) || !names.contains(before))
                        .as(() -> before + " was granted and is there, and holds no more in " + names)
                        .isTrue();
            }
            assertThat(queue.holders().size() > 1
                            && queue.holders().stream().anyMatch(holder -> holder.mode() == LockMode.EXCLUSIVE))
                    .as(() -> "a writer is not alone in " + names)
                    .isFalse();
            for (NodeName writer : queue.holders()) {
                assertThat((writer.kind() != 'y' && writer.kind() != 'q')
                                || granted.contains(writer.name())
                                || names.stream()
                                        .flatMap(name -> NodeName.parse(name).stream())
                                        .allMatch(other -> other.equals(writer) || other.yields()))
                        .as(() -> writer + " was granted beside others in " + names)
                        .isTrue();
            }
            assertThat(holds.isEmpty() && !queue.waiters().isEmpty())
                    .as(() -> "somebody waits for nobody in " + names)
                    .isFalse();
            granted.clear();
            granted.addAll(holds);
        }
    }

    @Test
    void oneHoldsOnlyIfNobodyHeldOrQueuedWhenItsNodeWasCreated() {
        int promotions = 0;
        int inVain = 0;
        int refusals = 0;
        for (int seed = 0; seed < 100; seed++) {
            Ensemble ensemble = new Ensemble(new SplittableRandom(seed), false);
            for (int step = 0; step < 400; step++) {
                ensemble.step(step);
            }
            promotions += ensemble.promotions;
            inVain += ensemble.inVain;
            refusals += ensemble.refusals;
        }
        assertThat(promotions).isGreaterThan(500);
        assertThat(inVain).as("nodes that did not get their number").isGreaterThan(100);
        assertThat(refusals).as("another soft writer was faster").isGreaterThan(20);
    }

    @Test
    void aNodeThatHoldsWithWhateverNumberWouldBeFound() {
        assertThatThrownBy(() -> {
                    for (int seed = 0; seed < 100; seed++) {
                        Ensemble ensemble = new Ensemble(new SplittableRandom(seed), true);
                        for (int step = 0; step < 400; step++) {
                            ensemble.step(step);
                        }
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("was granted beside others");
    }
}
