// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.Run.Bar;
import io.keyway.lock.simulator.picture.Run.Event;
import io.keyway.lock.simulator.picture.Run.Hold;
import io.keyway.lock.simulator.picture.Run.Kind;
import io.keyway.lock.simulator.picture.Run.Role;
import io.keyway.lock.simulator.picture.RunJson;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What `keyway simulate` runs: the world that was asked for, the same each time, and what is written down of it. */
class SimulationTest {
    private static SimulationSettings settings(String algorithm, long seed, List<String> faults, List<String> slow) {
        return new SimulationSettings(algorithm, seed, 0, 3, 1, 12, 0, faults, slow);
    }

    private static Simulation run(SimulationSettings settings) {
        return Simulation.run(settings, "again");
    }

    @ParameterizedTest
    @CsvSource({"lease,1", "lease,3", "lamport,3", "bakery,4", "election,5", "bucket,1", "bucket,3"})
    void equalSettingsAreEqualRuns(String algorithm, int members) {
        SimulationSettings settings = new SimulationSettings(
                algorithm, 5, members, 3, 2, 12, 0, List.of("crash", "loss", "pause"), List.of());

        Simulation first = run(settings);

        assertThat(first.held()).as(first.verdict()).isTrue();
        assertThat(RunJson.of(run(settings).picture())).isEqualTo(RunJson.of(first.picture()));
        assertThat(first.picture().processes().stream().filter(line -> line.role() == Role.MEMBER))
                .hasSize(members);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lease", "lamport", "bucket"})
    void whoBelievesWasGrantedIt(String algorithm) {
        int beliefs = 0;
        for (long seed = 0; seed < 20; seed++) {
            Run run = run(settings(algorithm, seed, List.of("cut", "pause"), List.of()))
                    .picture();
            for (Bar belief : run.bars()) {
                if (belief.hold() == Hold.BELIEF) {
                    beliefs++;
                    assertThat(run.bars()).as("seed %d: %s", seed, belief).anySatisfy(bar -> {
                        assertThat(bar.hold()).isEqualTo(Hold.AUTHORITY);
                        assertThat(bar.lock()).isEqualTo(belief.lock());
                        assertThat(bar.token()).isLessThanOrEqualTo(belief.token());
                        assertThat(bar.from()).isLessThanOrEqualTo(belief.from());
                        assertThat(bar.to()).isGreaterThanOrEqualTo(belief.to());
                    });
                }
            }
        }
        assertThat(beliefs).isGreaterThan(20);
    }

    @Test
    void aSlowLinkIsSlowAndTheOthersAreNot() {
        Run run = run(settings("lease", 1, List.of(), List.of("client1:member=300")))
                .picture();
        long faultsEnd = 3_000_000_000L;

        List<Event> messages = run.events().stream()
                .filter(event -> event.kind() == Kind.MESSAGE && event.at() < faultsEnd)
                .toList();

        int client1 = run.processes().indexOf(new Run.Lifeline("client1", Role.CLIENT));
        assertThat(messages).anyMatch(event -> event.from() == client1);
        assertThat(messages).anyMatch(event -> event.from() > client1);
        assertThat(messages).allSatisfy(event -> {
            boolean slow = event.from() == client1 || event.process() == client1;
            assertThat(event.at() - event.sent() >= 300_000_000L)
                    .as(event.toString())
                    .isEqualTo(slow);
        });
    }

    @Test
    void whatIsLostIsBrokenOff() {
        int lost = 0;
        for (long seed = 0; seed < 20; seed++) {
            Run run = run(settings("lease", seed, List.of("loss", "loss", "cut"), List.of()))
                    .picture();
            for (Event event : run.events()) {
                lost += event.kind() == Kind.LOST ? 1 : 0;
                assertThat(event.kind() == Kind.LOST)
                        .as(event.toString())
                        .isEqualTo(event.text().startsWith("lost: ")
                                || event.text().startsWith("cut: "));
            }
        }
        assertThat(lost).isGreaterThan(20);
    }

    @Test
    void messagesOfLamportsQueueShowTheirClocks() {
        Run run = run(settings("lamport", 2, List.of(), List.of())).picture();

        List<Event> requests = run.events().stream()
                .filter(event -> event.text().startsWith("Request "))
                .toList();
        assertThat(requests).isNotEmpty().allMatch(event -> event.text().contains(" stamp=" + event.clock() + " "));
    }

    @Test
    void theStateOfAManagerIsWhatWasGranted() {
        Run run = run(settings("lease", 7, List.of(), List.of())).picture();

        for (Bar bar : run.bars()) {
            if (bar.hold() == Hold.AUTHORITY) {
                String state = run.events().stream()
                        .filter(event ->
                                event.at() == bar.from() && event.states().containsKey(bar.lock()))
                        .reduce((one, later) -> later)
                        .orElseThrow()
                        .states()
                        .get(bar.lock());
                assertThat(state).contains("with token " + bar.token());
            }
        }
        assertThat(run.bars()).anyMatch(bar -> bar.hold() == Hold.AUTHORITY);
    }

    @Test
    void aBrokenPromiseSaysWhatAndWhereAndHowToSeeItAgain() {
        for (long seed = 0; seed < 300; seed++) {
            SimulationSettings settings =
                    new SimulationSettings("lamport", seed, 0, 3, 1, 20, 0, List.of("crash", "cut", "cut"), List.of());
            Campaign unsafe = Campaigns.lamport(LamportMembers.kit(UnsafeLamport.MAJORITY.machines()));
            Simulation simulation = Simulation.run(unsafe, settings.plan(), settings.title(), "keyway simulate", 0);
            if (!simulation.held()) {
                Run run = simulation.picture();
                Event last = run.events().get(run.events().size() - 1);
                assertThat(run.violation()).matches("R\\d+: .+");
                assertThat(last.text()).isEqualTo("violates " + run.violation());
                assertThat(simulation.verdict())
                        .startsWith("Violated at "
                                + run.processes().get(last.process()).name())
                        .contains(run.violation())
                        .endsWith("Again: keyway simulate" + System.lineSeparator());
                return;
            }
        }
        throw new AssertionError("no seed finds that a majority decides");
    }

    @Test
    void whatABrokenPromiseNeedsIsLeftWhenItHasShrunk() {
        for (long seed = 0; seed < 300; seed++) {
            SimulationSettings settings =
                    new SimulationSettings("lamport", seed, 0, 3, 1, 20, 0, List.of("crash", "cut", "cut"), List.of());
            Campaign unsafe = Campaigns.lamport(LamportMembers.kit(UnsafeLamport.MAJORITY.machines()));
            Plan plan = settings.plan();
            Simulation whole = Simulation.run(unsafe, plan, "whole", "", 0);
            if (!whole.held()) {
                Simulation shrunk = Simulation.shrink(unsafe, plan, "whole", "", 0);
                String lines = shrunk.verdict().substring(shrunk.verdict().indexOf("options seed="));
                assertThat(shrunk.held()).isFalse();
                assertThat(property(shrunk)).isEqualTo(property(whole));
                assertThat(shrunk.picture().title()).isEqualTo("whole; shrunk");
                assertThat(Plan.parse(lines).size()).isLessThan(plan.size()).isLessThanOrEqualTo(8);
                assertThat(shrunk.picture().events())
                        .hasSizeLessThan(whole.picture().events().size());
                assertThat(Simulation.run(unsafe, Plan.parse(lines), "whole; shrunk", "", 0)
                                .picture())
                        .isEqualTo(shrunk.picture());
                return;
            }
        }
        throw new AssertionError("no seed finds that a majority decides");
    }

    private static String property(Simulation simulation) {
        String violation = simulation.picture().violation();
        return violation.substring(0, violation.indexOf(':'));
    }

    @Test
    void whatHoldsIsNotShrunk() {
        SimulationSettings settings = settings("lease", 1, List.of("cut"), List.of());

        assertThat(Simulation.shrink(settings, "again")).isEqualTo(run(settings));
    }

    @Test
    void aRunStopsWhereItWasToldTo() {
        SimulationSettings settings = new SimulationSettings("lease", 1, 0, 3, 1, 50, 40, List.of(), List.of());

        Simulation simulation = run(settings);

        assertThat(simulation.verdict()).startsWith("Stopped after 40 events");
        assertThat(simulation.held()).isTrue();
    }

    @Test
    void aPrintedPlanIsTheSameRun() {
        SimulationSettings settings = settings("bucket", 3, List.of("crash", "pause"), List.of());
        Simulation first = run(settings);

        Simulation second = Simulation.replay(settings.plan().toString(), settings.title(), "again");

        assertThat(second.picture()).isEqualTo(first.picture());
        assertThatThrownBy(() -> Simulation.replay("fault", "t", "c"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a plan");
    }

    /** Whoever leads, a leader is cut off and its seat is another one's, and everybody is served. */
    @Test
    void anElectionShowsHowALeaderIsReplaced() {
        boolean replaced = false;
        for (long seed = 1; seed <= 5; seed++) {
            Simulation simulation = run(settings("election", seed, List.of(), List.of()));
            assertThat(simulation.held()).as(simulation.verdict()).isTrue();
            replaced |= simulation.picture().events().stream()
                    .anyMatch(event ->
                            event.text().contains("Leaders ") && event.text().contains("round=2 "));
        }
        assertThat(replaced).isTrue();
    }

    /** Each fault happens in a world of some algorithm, under its name. */
    @Test
    void everyFaultThatIsOfferedHappensSomewhere() {
        for (String name : SimulationSettings.faultNames()) {
            boolean happens = false;
            for (String algorithm : SimulationSettings.ALGORITHMS) {
                for (int members : new int[] {1, 3}) {
                    happens |= plans(algorithm, members, name);
                }
            }
            assertThat(happens).as(name).isTrue();
        }
    }

    private static boolean plans(String algorithm, int members, String fault) {
        try {
            SimulationSettings settings =
                    new SimulationSettings(algorithm, 1, members, 3, 1, 12, 0, List.of(fault, fault), List.of());
            String planned = settings.plan().toString();
            String kind = fault.replace('-', '_').toUpperCase(Locale.ROOT);
            boolean cutsLeadersOff = algorithm.equals("failover") && kind.equals("CUT");
            if (!fault.equals("any")) {
                assertThat(planned.split("fault " + kind + " at", -1))
                        .as(planned)
                        .hasSize(cutsLeadersOff ? 5 : 3);
            }
            return true;
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageMatching("(?s)(members|faults): .+");
            return false;
        }
    }
}
