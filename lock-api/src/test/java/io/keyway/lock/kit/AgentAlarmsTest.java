// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** One timer for all alarms. */
class AgentAlarmsTest {

    private final WorldTime world = new WorldTime(new SplittableRandom(1));
    private final List<String> rung = new ArrayList<>();
    private int timers;

    /** Counts what it is asked for. */
    private final TimeSource time = new TimeSource() {
        @Override
        public long nanoTime() {
            return world.nanoTime();
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            timers++;
            return world.at(atNanos, task);
        }
    };

    private final AgentAlarms alarms = new AgentAlarms(time);

    private TimeSource.Scheduled set(long millis, String name) {
        return alarms.at(millis * WorldTime.MS, () -> rung.add(name + " at " + world.nanoTime() / WorldTime.MS));
    }

    private void runOut() {
        while (world.step()) {
            // Each event.
        }
    }

    @Test
    void eachRingsAtItsTimeWhateverTheirOrder() {
        set(30, "last");
        set(10, "first");
        set(20, "second");
        set(20, "third");
        runOut();
        assertThat(rung).containsExactly("first at 10", "second at 20", "third at 20", "last at 30");
    }

    @Test
    void whatIsCancelledDoesNotRingAndTheRestDoes() {
        TimeSource.Scheduled cancelled = set(10, "cancelled");
        set(20, "stays");
        cancelled.cancel();
        runOut();
        assertThat(rung).containsExactly("stays at 20");
    }

    /** As transactions that are over before their agents want to look set and cancel them. */
    @Test
    void alarmsThatAreTakenBackCostNoTimerEach() {
        for (int i = 0; i < 1000; i++) {
            set(100 + i, "never").cancel();
        }
        assertThat(timers).isEqualTo(1);
        runOut();
        assertThat(rung).isEmpty();
        set(5000, "later");
        runOut();
        assertThat(rung).containsExactly("later at 5000");
    }

    @Test
    void oneThatFailsIsNotTheEndOfTheOthers() {
        alarms.at(10 * WorldTime.MS, () -> {
            throw new IllegalStateException("on purpose");
        });
        set(10, "beside it");
        set(20, "after it");
        runOut();
        assertThat(rung).containsExactly("beside it at 10", "after it at 20");
    }

    @Test
    void anAlarmMaySetTheNext() {
        alarms.at(10 * WorldTime.MS, () -> set(40, "next"));
        runOut();
        assertThat(rung).containsExactly("next at 40");
    }

    /** What two threads have decided one after the other they may do in the other order. */
    @Test
    void anAlarmRingsAtTheTimeThatWasDecidedLast() {
        AgentAlarm alarm = new AgentAlarm(alarms, () -> rung.add("at " + world.nanoTime() / WorldTime.MS));
        Runnable late = alarm.setBy(20 * WorldTime.MS).orElseThrow();
        Runnable early = alarm.setBy(10 * WorldTime.MS).orElseThrow();
        early.run();
        late.run();
        runOut();
        assertThat(rung).containsExactly("at 10");
    }
}
