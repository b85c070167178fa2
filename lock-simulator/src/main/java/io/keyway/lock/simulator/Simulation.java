// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.picture.Run;
import java.util.Locale;

/**
 * One run of the product's machines in a world of its own, with all oracles.
 *
 * @param picture what happened, to the last {@value #MOST_EVENTS} events
 * @param held false if an oracle says that a property does not hold
 * @param verdict how it ended, in a few lines
 */
public record Simulation(Run picture, boolean held, String verdict) {
    /** How many events a picture has at most. */
    static final int MOST_EVENTS = 20_000;

    /**
     * Runs a world.
     *
     * @param settings the world
     * @param command what makes it again, for the picture and the verdict
     * @throws IllegalArgumentException if a link or a fault of the settings is not of this world
     */
    public static Simulation run(SimulationSettings settings, String command) {
        return run(settings.campaign(), settings.plan(), settings.title(), command, settings.events());
    }

    /**
     * Runs a world, and if a property does not hold there, runs it with ever less: fewer clients, faults, operations,
     * and mishaps of frames. What is drawn is the smallest run that was found in which the same property does not
     * hold; the verdict ends in its plan.
     *
     * @param settings the world
     * @param command what makes it again
     * @throws IllegalArgumentException if a link or a fault of the settings is not of this world
     */
    public static Simulation shrink(SimulationSettings settings, String command) {
        return shrink(settings.campaign(), settings.plan(), settings.title(), command, settings.events());
    }

    /**
     * Runs a plan that a failed test has printed, or whoever else writes plans.
     *
     * @param plan its lines
     * @param title what it is, in a line
     * @param command what makes it again, for the picture and the verdict
     * @throws IllegalArgumentException if these are not the lines of a plan, or it is of an algorithm that is not here
     */
    public static Simulation replay(String plan, String title, String command) {
        Plan parsed = Plan.parse(plan);
        return run(Campaigns.of(parsed.options().profile()), parsed, title, command, 0);
    }

    /**
     * Runs a plan, and what is left of it when it has shrunk, as {@link #shrink(SimulationSettings, String)}.
     *
     * @param plan its lines
     * @param title what it is, in a line
     * @param command what makes it again
     * @throws IllegalArgumentException as {@link #replay} does
     */
    public static Simulation shrink(String plan, String title, String command) {
        Plan parsed = Plan.parse(plan);
        return shrink(Campaigns.of(parsed.options().profile()), parsed, title, command, 0);
    }

    /** With the machines of that campaign; 0 events: to the end. */
    static Simulation run(Campaign campaign, Plan plan, String title, String command, long events) {
        long most = events == 0 ? Long.MAX_VALUE : events;
        Campaign.Recorded recorded = campaign.record(plan, title, command, MOST_EVENTS, most);
        RunResult result = recorded.result();
        boolean held = result.violation() == null;
        return new Simulation(recorded.picture(), held, verdict(result, recorded.picture(), result.events() >= most));
    }

    static Simulation shrink(Campaign campaign, Plan plan, String title, String command, long events) {
        Simulation whole = run(campaign, plan, title, command, events);
        if (whole.held()) {
            return whole;
        }
        Plan small = campaign.shrink(campaign.run(plan)).plan();
        Simulation shrunk = run(campaign, small, title + "; shrunk", command, 0);
        String lines = String.format(
                Locale.ROOT,
                "Shrunk from %d to %d faults, operations and mishaps. With these lines in a file,"
                        + " keyway simulate --plan FILE runs what is left:%n%n%s",
                plan.size(),
                small.size(),
                small);
        return new Simulation(shrunk.picture(), false, shrunk.verdict() + lines);
    }

    private static String verdict(RunResult result, Run picture, boolean stopped) {
        String time = String.format(Locale.ROOT, "%.3f s of the world's time", result.nanos() / 1e9);
        if (result.violation() != null) {
            return String.format(
                    Locale.ROOT,
                    "Violated at %s after %,d events and %s: %s%nAgain: %s%n",
                    where(picture),
                    result.events(),
                    time,
                    picture.violation(),
                    picture.command());
        }
        return stopped
                ? String.format(
                        Locale.ROOT,
                        "Stopped after %,d events and %s: until then all oracles hold.%n",
                        result.events(),
                        time)
                : String.format(
                        Locale.ROOT,
                        "All oracles hold: %,d events, %d faults, %s; everybody was served, and nothing is left.%n",
                        result.events(),
                        result.faults(),
                        time);
    }

    /** Of a run that failed, the last event says where. */
    private static String where(Run picture) {
        int last = picture.events().size() - 1;
        return last < 0
                ? "the start"
                : picture.processes().get(picture.events().get(last).process()).name();
    }
}
