// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.RecordedHold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The journal of one process, line by line, and what its users did by it. For one thread. */
public class JournalLines {
    private final String worker;
    private final List<RecordedHold> holds = new ArrayList<>();
    private final Map<Long, RecordedHold> byId = new HashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private long forgotten;
    private int grants;
    private int deadlocks;

    /** Of the process of that name. */
    public JournalLines(String worker) {
        this.worker = worker;
    }

    /** Whose journal it is. */
    public final String worker() {
        return worker;
    }

    /** All requests, but for those that were forgotten, in the order in which they were made; live. */
    public final List<RecordedHold> holds() {
        return holds;
    }

    /** How many leases were handed out. */
    public final int grants() {
        return grants;
    }

    /** How many requests were refused since their transaction was aborted to end a deadlock. */
    public final int deadlocks() {
        return deadlocks;
    }

    /** What users who would have waited for long were told instead of a lease. */
    public final List<String> refusals() {
        return refusals;
    }

    /** Forgets the requests whose users had their last answer before that instant, and what may yet be said of them. */
    public final void forget(long before) {
        byId.entrySet().removeIf(entry -> {
            boolean over = isOver(entry.getValue(), before);
            if (over) {
                forgotten = Math.max(forgotten, entry.getKey());
            }
            return over;
        });
        holds.removeIf(hold -> isOver(hold, before));
    }

    private static boolean isOver(RecordedHold hold, long before) {
        return hold.isEnded() && hold.endedAt() < before;
    }

    /**
     * Takes the next line.
     *
     * @return the request of which it speaks; null if that was forgotten
     * @throws IllegalStateException if it is none of a journal, or speaks of a request of which there was none before
     */
    public final @Nullable RecordedHold read(String line) {
        String[] words = line.split(" ", 8);
        long id = Long.parseLong(words[1]);
        if (words[0].equals("asked")) {
            RecordedHold hold = new RecordedHold(
                    worker,
                    words[2],
                    LockMode.valueOf(words[3]),
                    Integer.parseInt(words[5]),
                    Integer.parseInt(words[6]),
                    words.length > 7 ? Long.parseLong(words[7]) : 0,
                    Long.parseLong(words[4]));
            byId.put(id, hold);
            holds.add(hold);
            return hold;
        }
        RecordedHold hold = byId.get(id);
        if (hold == null) {
            if (id <= forgotten) {
                return null;
            }
            throw new IllegalStateException(worker + ": no request " + id + " before: " + line);
        }
        switch (words[0]) {
            case "granted" -> {
                grants++;
                hold.granted(
                        Long.parseLong(words[2]), Duration.ofNanos(Long.parseLong(words[3])), Long.parseLong(words[4]));
            }
            case "held", "gone" ->
                hold.answered(new HeldAnswer(
                        words[0].equals("held"),
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3]),
                        Long.parseLong(words[4])));
            case "lost" -> hold.lost(Long.parseLong(words[3]), LeaseLoss.Cause.valueOf(words[2]));
            case "untold" -> hold.untold();
            case "releasing" -> hold.releaseCalled(Long.parseLong(words[2]));
            case "released" -> hold.released(ReleaseOutcome.valueOf(words[2]), Long.parseLong(words[3]));
            case "refused" -> {
                hold.refused(Long.parseLong(words[2]));
                String reason = line.substring(("refused " + id + " " + words[2]).length())
                        .trim();
                if (reason.startsWith("told: ")) {
                    refusals.add(reason);
                } else if (reason.startsWith("deadlock: ")) {
                    deadlocks++;
                }
            }
            default -> throw new IllegalStateException(worker + ": not a line of a journal: " + line);
        }
        return hold;
    }
}
