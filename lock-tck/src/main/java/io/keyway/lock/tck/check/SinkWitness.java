// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Passes on what an engine tells one sink, and says what of it the rule LK-1508 forbids. */
final class SinkWitness implements LockEngine.Sink {
    private final LockEngine.Sink sink;
    private final String request;
    private final Consumer<String> report;

    // What was told last that others must not follow, and by whom a call is under way.
    private @Nullable String last;
    private @Nullable Thread inside;
    private int calls;

    SinkWitness(LockEngine.Sink sink, @Nullable Request request, Consumer<String> report) {
        this.sink = sink;
        this.request = request == null
                ? "a re-acquire"
                : "request " + request.id() + " of " + request.owner().client() + " for " + request.key();
        this.report = report;
    }

    private void told(String word, Runnable passOn) {
        enter(word);
        try {
            passOn.run();
        } finally {
            leave();
        }
    }

    private synchronized void enter(String word) {
        Thread caller = Thread.currentThread();
        if (inside != null && inside != caller) {
            say(word + " while another thread was still calling it");
        }
        inside = caller;
        calls++;
        String before = last;
        boolean granted = "granted".equals(before);
        switch (word) {
            case "granted", "refused", "failed" -> {
                if (before != null) {
                    say(word + " after " + before);
                }
                last = word;
            }
            case "ended" -> {
                if (!granted) {
                    say(word + (before == null ? " before any grant" : " after " + before));
                }
                last = word;
            }
            case "waiting" -> {
                if (before != null) {
                    say(word + " after " + before);
                }
            }
            default -> {
                if (before != null && !granted) {
                    say(word + " after " + before);
                }
            }
        }
    }

    private synchronized void leave() {
        calls--;
        if (calls == 0) {
            inside = null;
        }
    }

    private void say(String what) {
        report.accept("the sink of " + request + " was told " + what);
    }

    @Override
    public void waiting(OptionalInt ahead, List<Owner> holders) {
        told("waiting", () -> sink.waiting(ahead, holders));
    }

    @Override
    public void closed(String why) {
        told("closed", () -> sink.closed(why));
    }

    @Override
    public void refused(List<Owner> holders) {
        told("refused", () -> sink.refused(holders));
    }

    @Override
    public void granted(LockEngine.Hold hold, long token) {
        told("granted", () -> sink.granted(hold, token));
    }

    @Override
    public void doubt(String why) {
        told("doubt", () -> sink.doubt(why));
    }

    @Override
    public void certain() {
        told("certain", sink::certain);
    }

    @Override
    public void ended(LeaseLoss.Cause cause, String detail) {
        told("ended", () -> sink.ended(cause, detail));
    }

    @Override
    public void failed(LockException e) {
        told("failed", () -> sink.failed(e));
    }
}
