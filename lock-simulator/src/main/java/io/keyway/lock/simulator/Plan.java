// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that a run depends on. The same plan gives the same run, to the last event.
 *
 * @param mishaps which frames the net loses, doubles or delays beyond the usual; null: as the seed draws it
 */
record Plan(
        Options options,
        List<Fault> faults,
        List<Act> acts,
        @Nullable List<Mishap> mishaps) {
    Plan {
        faults = List.copyOf(faults);
        acts = List.copyOf(acts);
        mishaps = mishaps == null ? null : List.copyOf(mishaps);
    }

    /** What a shrinker counts: faults, operations and single misfortunes of frames. */
    int size() {
        return faults.size() + acts.size() + (mishaps == null ? 0 : mishaps.size());
    }

    Plan with(Options changed) {
        return new Plan(changed, faults, acts, mishaps);
    }

    Plan withFaults(List<Fault> changed) {
        return new Plan(options, changed, acts, mishaps);
    }

    Plan withActs(List<Act> changed) {
        return new Plan(options, faults, changed, mishaps);
    }

    Plan withMishaps(@Nullable List<Mishap> changed) {
        return new Plan(options, faults, acts, changed);
    }

    /** One line each; {@link #parse} reads it. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add(options.toString());
        faults.forEach(fault -> lines.add(fault.toString()));
        acts.forEach(act -> lines.add(act.toString()));
        if (mishaps != null) {
            lines.add("listed mishaps " + mishaps.size());
            mishaps.forEach(mishap -> lines.add(mishap.toString()));
        }
        return String.join("\n", lines) + "\n";
    }

    static Plan parse(String text) {
        Options options = null;
        List<Fault> faults = new ArrayList<>();
        List<Act> acts = new ArrayList<>();
        List<Mishap> mishaps = null;
        for (String line : text.strip().lines().toList()) {
            String kind = new Words(line).word(0);
            switch (kind) {
                case "options" -> options = Options.parse(line);
                case "fault" -> faults.add(Fault.parse(line));
                case "act" -> acts.add(Act.parse(line));
                case "listed" -> mishaps = new ArrayList<>();
                case "mishap" -> {
                    if (mishaps == null) {
                        throw new IllegalArgumentException("mishaps come after the line that says how many");
                    }
                    mishaps.add(Mishap.parse(line));
                }
                default -> throw new IllegalArgumentException("not a line of a plan: " + line);
            }
        }
        if (options == null) {
            throw new IllegalArgumentException("a plan needs a line of options");
        }
        return new Plan(options, faults, acts, mishaps);
    }
}
