// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Makes a failing plan small: nodes and names first, then faults, then the operations of users, then the single
 * misfortunes of frames, each by delta debugging (halves, quarters and so on; Zeller and Hildebrandt 2002), until
 * nothing more can go. A plan fails if it violates the same property.
 */
final class Shrinker {
    private final Function<Plan, RunResult> run;
    private final String property;
    private final int limit;
    private int runs;
    private RunResult best;

    private Shrinker(RunResult failed, Function<Plan, RunResult> run, int limit) {
        Violation violation = failed.violation();
        if (violation == null) {
            throw new IllegalArgumentException("this run did not fail");
        }
        this.property = violation.property();
        this.run = run;
        this.limit = limit;
        this.best = failed;
    }

    /** The smallest failing run that was found within so many runs. */
    static RunResult shrink(RunResult failed, Function<Plan, RunResult> run, int limit) {
        Shrinker shrinker = new Shrinker(failed, run, limit);
        shrinker.all();
        return shrinker.best;
    }

    private void all() {
        int before;
        do {
            before = best.plan().size() + best.plan().options().clients();
            cutTail();
            calm();
            nodes();
            faults();
            acts();
            mishaps();
            durations();
        } while (best.plan().size() + best.plan().options().clients() < before && runs < limit);
    }

    /** What comes after the violation did not cause it. */
    private void cutTail() {
        long end = best.nanos();
        Plan plan = best.plan();
        attempt(plan.withFaults(keep(plan.faults(), fault -> fault.at() <= end))
                .withActs(keep(plan.acts(), act -> act.at() <= end)));
    }

    private void calm() {
        for (String[] option : new String[][] {
            {"jitter", "0"},
            {"tail", "0"},
            {"lossPerMille", "0"},
            {"duplicatePerMille", "0"},
            {"lateness", "0"},
            {"batchWindow", "0"},
            {"drift", "0"},
            {"purityPerMille", "0"},
            {"ordered", "true"}
        }) {
            attempt(best.plan().with(best.plan().options().with(option[0], option[1])));
        }
    }

    private void nodes() {
        for (int client = best.plan().options().clients(); client > 0; client--) {
            int gone = client;
            Plan plan = best.plan();
            attempt(plan.withFaults(keep(plan.faults(), fault -> fault.node() != gone))
                    .withActs(keep(plan.acts(), act -> act.client() != gone)));
        }
        renumber();
        for (int name = best.plan().options().names() - 1; name >= 0; name--) {
            int gone = name;
            Plan plan = best.plan();
            attempt(plan.withActs(keep(plan.acts(), act -> act.name() != gone)));
        }
    }

    /** Closes the gaps that clients left which are gone. */
    private void renumber() {
        Plan plan = best.plan();
        TreeMap<Integer, Integer> numbers = new TreeMap<>();
        plan.acts().forEach(act -> numbers.put(act.client(), 0));
        plan.faults().stream().filter(fault -> fault.node() > 0).forEach(fault -> numbers.put(fault.node(), 0));
        int next = 1;
        for (Map.Entry<Integer, Integer> entry : numbers.entrySet()) {
            entry.setValue(next++);
        }
        List<Fault> faults = plan.faults().stream()
                .map(fault -> fault.node() > 0 ? fault.of(number(numbers, fault.node())) : fault)
                .toList();
        List<Act> acts = plan.acts().stream()
                .map(act -> new Act(
                        act.at(),
                        number(numbers, act.client()),
                        act.user(),
                        act.verb(),
                        act.name(),
                        act.patience(),
                        act.hold()))
                .toList();
        List<Mishap> mishaps = plan.mishaps() == null
                ? null
                : plan.mishaps().stream()
                        .filter(mishap -> mishap.client() <= 0 || numbers.containsKey(mishap.client()))
                        .map(mishap -> mishap.client() <= 0 ? mishap : mishap.of(number(numbers, mishap.client())))
                        .toList();
        Options options = plan.options().with("clients", String.valueOf(Math.max(1, next - 1)));
        attempt(new Plan(options, faults, acts, mishaps));
    }

    private static int number(Map<Integer, Integer> numbers, int client) {
        return Objects.requireNonNull(numbers.get(client), "a client that is left");
    }

    private void faults() {
        minimize(best.plan().faults(), kept -> attempt(best.plan().withFaults(kept)));
    }

    private void acts() {
        minimize(best.plan().acts(), kept -> attempt(best.plan().withActs(kept)));
    }

    private void mishaps() {
        List<Mishap> met =
                best.plan().mishaps() == null ? best.mishaps() : best.plan().mishaps();
        if ((met.isEmpty() && best.plan().mishaps() != null)
                || attempt(best.plan().withMishaps(List.of()))) {
            return;
        }
        if (best.plan().mishaps() == null && !attempt(best.plan().withMishaps(met))) {
            return;
        }
        minimize(met, kept -> attempt(best.plan().withMishaps(kept)));
    }

    private void durations() {
        for (int i = 0; i < best.plan().faults().size(); i++) {
            List<Fault> faults = new ArrayList<>(best.plan().faults());
            Fault fault = faults.get(i);
            long rounded = fault.nanos() / Nanos.MILLI * Nanos.MILLI;
            faults.set(
                    i,
                    new Fault(
                            fault.kind(),
                            fault.at() / Nanos.MILLI * Nanos.MILLI,
                            rounded,
                            fault.node(),
                            fault.peer(),
                            fault.amount()));
            attempt(best.plan().withFaults(faults));
        }
    }

    /**
     * ddmin, without its complement step on single chunks: takes out ever smaller chunks as long as the rest still
     * fails.
     */
    private <T> void minimize(List<T> start, Predicate<List<T>> fails) {
        List<T> kept = new ArrayList<>(start);
        for (int chunk = kept.size(); chunk >= 1 && runs < limit; ) {
            boolean shrunk = false;
            for (int from = 0; from < kept.size() && runs < limit; ) {
                List<T> rest = new ArrayList<>(kept.subList(0, from));
                rest.addAll(kept.subList(Math.min(kept.size(), from + chunk), kept.size()));
                if (fails.test(rest)) {
                    kept = rest;
                    shrunk = true;
                } else {
                    from += chunk;
                }
            }
            chunk = shrunk && chunk <= kept.size() ? chunk : Math.min(chunk, kept.size()) / 2;
        }
    }

    private boolean attempt(Plan plan) {
        if (runs >= limit || plan.equals(best.plan())) {
            return false;
        }
        runs++;
        RunResult result = run.apply(plan);
        Violation violation = result.violation();
        if (violation == null || !violation.property().equals(property)) {
            return false;
        }
        best = result;
        return true;
    }

    private static <T> List<T> keep(List<T> all, Predicate<T> kept) {
        return all.stream().filter(kept).toList();
    }
}
