// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Options.Profile;
import io.keyway.lock.simulator.picture.Run;
import io.keyway.lock.simulator.picture.SequenceChart;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Many worlds of one kind. The first violation stops it. */
final class Campaign {
    private static final int SHRINK_RUNS = 4000;
    private static final int CHART_LINES = 70;

    private final Profile profile;
    private final Function<SimWorld, Model> models;
    private final Function<Options, Plan> planner;

    Campaign(Profile profile, Function<SimWorld, Model> models, Function<Options, List<Act>> acts) {
        this.profile = profile;
        this.models = models;
        this.planner = options -> new Plan(options, FaultPlanner.plan(options), acts.apply(options), null);
    }

    Plan plan(long seed) {
        return planner.apply(RestartPlanner.aimed(Options.of(profile, seed)));
    }

    RunResult run(Plan plan) {
        return new SimWorld(plan, models, null).run();
    }

    RunResult run(long seed) {
        return run(plan(seed));
    }

    /** What a campaign has done. */
    record Total(
            long runs,
            long events,
            long faults,
            long virtualNanos,
            long realNanos,
            Goals goals,
            @Nullable RunResult failed) {
        @Override
        public String toString() {
            return String.format(
                    java.util.Locale.ROOT,
                    "%,d runs, %,d events, %,d faults, %.1f simulated hours in %.1f s: %.2f M events a second%n%s",
                    runs,
                    events,
                    faults,
                    virtualNanos / 3.6e12,
                    realNanos / 1e9,
                    events * 1e3 / realNanos,
                    goals);
        }
    }

    /** Runs seeds from first on until both the number of runs and the number of events are reached. */
    Total run(long first, long runs, long events, int threads) throws InterruptedException {
        AtomicLong nextSeed = new AtomicLong(first);
        AtomicLong eventsLeft = new AtomicLong(events);
        AtomicBoolean stop = new AtomicBoolean();
        long start = System.nanoTime();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Total>> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                workers.add(pool.submit(() -> work(nextSeed, first + runs, eventsLeft, stop)));
            }
            Total sum = new Total(0, 0, 0, 0, 0, new Goals(), null);
            for (Future<Total> worker : workers) {
                Total each = worker.get();
                sum.goals().add(each.goals());
                sum = new Total(
                        sum.runs() + each.runs(),
                        sum.events() + each.events(),
                        sum.faults() + each.faults(),
                        sum.virtualNanos() + each.virtualNanos(),
                        System.nanoTime() - start,
                        sum.goals(),
                        sum.failed() == null ? each.failed() : sum.failed());
            }
            return sum;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdown();
        }
    }

    private Total work(AtomicLong nextSeed, long last, AtomicLong eventsLeft, AtomicBoolean stop) {
        long runs = 0;
        long events = 0;
        long faults = 0;
        long nanos = 0;
        Goals goals = new Goals();
        RunResult failed = null;
        while (!stop.get()) {
            long seed = nextSeed.getAndIncrement();
            if (seed >= last && eventsLeft.get() <= 0) {
                break;
            }
            RunResult result = run(seed);
            runs++;
            events += result.events();
            faults += result.faults();
            nanos += result.nanos();
            eventsLeft.addAndGet(-result.events());
            goals.add(result.goals());
            if (result.violation() != null) {
                failed = result;
                stop.set(true);
            }
        }
        return new Total(runs, events, faults, nanos, 0, goals, failed);
    }

    RunResult shrink(RunResult failed) {
        return shrink(failed, SHRINK_RUNS);
    }

    /** The smallest failing run that is found within so many. */
    RunResult shrink(RunResult failed, int runs) {
        return Shrinker.shrink(failed, this::run, runs);
    }

    /** Shrinks a failed run and says all that is needed to understand and to repeat it. */
    String report(RunResult failed) {
        RunResult small = shrink(failed);
        Violation violation = small.violation();
        if (violation == null) {
            throw new IllegalStateException("a shrunk run fails too");
        }
        String chart = chart(small.plan());
        StringBuilder text = new StringBuilder();
        text.append("seed ")
                .append(failed.plan().options().seed())
                .append(" violates ")
                .append(violation.getMessage())
                .append('\n');
        text.append(failed.plan().options()).append("\n\nShrunk from ");
        text.append(failed.plan().size())
                .append(" to ")
                .append(small.plan().size())
                .append(" faults and operations:\n\n");
        text.append(chart)
                .append("\nReplay the seed:\n  mvn -q test -pl lock-simulator -am "
                        + "-Dsurefire.failIfNoSpecifiedTests=false ");
        text.append("-Dtest=SimulationReplayTest -Dkeyway.profile=")
                .append(profile)
                .append(" -Dkeyway.seed=");
        text.append(failed.plan().options().seed()).append("\n\nAs a test:\n\n").append(test(small));
        if (violation.getCause() != null) {
            java.io.StringWriter trace = new java.io.StringWriter();
            violation.getCause().printStackTrace(new java.io.PrintWriter(trace));
            text.append('\n')
                    .append(trace.toString().lines().limit(12).collect(java.util.stream.Collectors.joining("\n")))
                    .append('\n');
        }
        return text.toString();
    }

    /** Runs a plan once more and draws it. */
    String chart(Plan plan) {
        return SequenceChart.of(record(plan, "", "", CHART_LINES).picture(), CHART_LINES, 0);
    }

    /** A run, and what was written down of it. */
    record Recorded(RunResult result, Run picture) {}

    /** Runs a plan and writes down so many of its last events. */
    Recorded record(Plan plan, String title, String command, int events) {
        return record(plan, title, command, events, Long.MAX_VALUE);
    }

    /** The same, and no further than to that number of events. */
    Recorded record(Plan plan, String title, String command, int events, long most) {
        List<Recorder> recorder = new ArrayList<>(1);
        SimWorld world = new SimWorld(plan, models, started -> {
            recorder.add(new Recorder(started, events));
            return recorder.get(0);
        });
        RunResult result = world.run(most);
        return new Recorded(result, recorder.get(0).run(title, command, result.violation()));
    }

    private static String test(RunResult small) {
        StringBuilder text = new StringBuilder("    @Test\n    void seed");
        text.append(small.plan().options().seed()).append("() {\n        assertClean(\"\"\"\n");
        small.plan()
                .toString()
                .lines()
                .forEach(line -> text.append("                ").append(line).append('\n'));
        return text.append("                \"\"\");\n    }\n").toString();
    }
}
