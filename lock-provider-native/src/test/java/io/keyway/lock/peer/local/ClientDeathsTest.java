// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.session.SessionLife;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** When a host finds that a client whose connection ended is dead, in virtual time. */
class ClientDeathsTest implements ClientDeaths.World {
    private final ClientDeaths deaths = new ClientDeaths(this);
    private final TreeMap<Long, List<Runnable>> later = new TreeMap<>();
    private final Set<Long> locked = new HashSet<>();
    private final Map<Long, Long> sessions = new HashMap<>(Map.of(1L, 10L, 2L, 20L));
    private final List<Long> died = new ArrayList<>();
    private long now;

    @Test
    void aProcessThatIsGoneIsFoundAtOnce() {
        deaths.linkGone(1, 10, List.of(7L, 8L));

        assertThat(died).containsExactly(1L);
        assertThat(later).isEmpty();
    }

    @Test
    void aGuardMayOutliveTheClientForLong() {
        locked.add(8L);
        deaths.linkGone(1, 10, List.of(7L, 8L));
        sessions.put(1L, SessionLife.NO_LINK);
        runUntil(60_000);
        assertThat(died).isEmpty();

        locked.clear();
        runUntil(60_000 + 3 * ClientDeaths.NOTICED_MILLIS);

        assertThat(died).containsExactly(1L);
        assertThat(later).isEmpty();
    }

    @Test
    void aByteThatAnotherPartOfTheJvmFreedIsNoDeathUntilTheClientHasNoticed() {
        locked.add(7L);
        deaths.linkGone(1, 10, List.of(7L));
        sessions.put(1L, SessionLife.NO_LINK);
        runUntil(30_000);
        locked.clear();
        long freed = now;
        while (died.isEmpty()) {
            runUntil(now + 1);
        }

        assertThat(now - freed).isBetween(ClientDeaths.NOTICED_MILLIS, 2 * ClientDeaths.NOTICED_MILLIS);
    }

    @Test
    void whoDiesSecondIsLookedAtOftenAgain() {
        locked.addAll(Set.of(7L, 8L));
        deaths.linkGone(1, 10, List.of(7L));
        runUntil(30_000);
        deaths.linkGone(2, 20, List.of(8L));
        runUntil(30_000 + 5 * ClientDeaths.SOON_MILLIS);
        locked.remove(8L);
        runUntil(30_000 + 6 * ClientDeaths.SOON_MILLIS);

        assertThat(died).containsExactly(2L);
    }

    /** The looks that are due soon for one that is lost just now say nothing of another. */
    @Test
    void aByteThatIsFreedWhileAnotherClientIsLookedAtOftenIsNoDeathAtOnce() {
        locked.addAll(Set.of(7L, 8L));
        deaths.linkGone(1, 10, List.of(7L));
        sessions.put(1L, SessionLife.NO_LINK);
        runUntil(30_000);
        deaths.linkGone(2, 20, List.of(8L));
        locked.remove(7L);
        runUntil(30_000 + ClientDeaths.NOTICED_MILLIS - 1);
        assertThat(died).isEmpty();
        runUntil(30_000 + 2 * ClientDeaths.NOTICED_MILLIS);

        assertThat(died).containsExactly(1L);
    }

    @Test
    void whoIsConnectedAgainIsLookedAtNoMore() {
        locked.add(7L);
        deaths.linkGone(1, 10, List.of(7L));
        runUntil(1_000);
        assertThat(later)
                .as("the cell has not yet heard of the end of the link")
                .isNotEmpty();
        sessions.put(1L, 11L);
        runUntil(1_000 + ClientDeaths.NOTICED_MILLIS);
        locked.clear();
        runUntil(60_000);

        assertThat(later).isEmpty();
        assertThat(died).isEmpty();
    }

    @Test
    void aSessionThatEndedIsForgotten() {
        locked.add(7L);
        deaths.linkGone(1, 10, List.of(7L));
        runUntil(1_000);
        sessions.remove(1L);
        runUntil(1_000 + ClientDeaths.NOTICED_MILLIS);

        assertThat(later).isEmpty();
        assertThat(died).isEmpty();
    }

    private void runUntil(long millis) {
        while (!later.isEmpty() && later.firstKey() <= millis) {
            now = later.firstKey();
            later.pollFirstEntry().getValue().forEach(Runnable::run);
        }
        now = millis;
    }

    @Override
    public boolean dead(List<Long> bytes) {
        return bytes.stream().noneMatch(locked::contains);
    }

    @Override
    public void died(long session) {
        died.add(session);
    }

    @Override
    public void withSessions(Consumer<Map<Long, Long>> next) {
        next.accept(Map.copyOf(sessions));
    }

    @Override
    public void runAfter(long millis, Runnable task) {
        later.computeIfAbsent(now + millis, at -> new ArrayList<>()).add(task);
    }
}
