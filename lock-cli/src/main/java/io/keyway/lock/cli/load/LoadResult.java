// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.util.List;

/** How a load went. */
public final class LoadResult {
    private final LoadPlan plan;
    private final String url;
    private final LoadRecord record;
    private final long nanos;
    private final boolean interrupted;

    LoadResult(LoadPlan plan, String url, LoadRecord record, long nanos, boolean interrupted) {
        this.plan = plan;
        this.url = url;
        this.record = record;
        this.nanos = nanos;
        this.interrupted = interrupted;
    }

    LoadPlan plan() {
        return plan;
    }

    /** With secrets masked. */
    String url() {
        return url;
    }

    LoadRecord record() {
        return record;
    }

    /** From the first command to the end of the last, in nanoseconds. */
    long nanos() {
        return nanos;
    }

    /** Whether it was ended early. */
    public boolean isInterrupted() {
        return interrupted;
    }

    /** The first breach of each rule that was broken, in lines; empty if none was. */
    public List<String> breaches() {
        return record.evidence();
    }

    double seconds() {
        return Math.max(nanos, 1) / 1e9;
    }

    /**
     * How evenly the acquires were spread over the clients, by Jain's index: 1 if all had as many, 1/n if one had all.
     */
    double fairness() {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < plan.clients(); i++) {
            double acquired = record.counts(i).acquired;
            sum += acquired;
            squares += acquired * acquired;
        }
        return squares == 0 ? Double.NaN : sum * sum / (plan.clients() * squares);
    }
}
