// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.trace.TraceFile;
import io.keyway.lock.peer.trace.TraceLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a member writes down of its events, while somebody wants that. Thread-safe. */
final class MemberTrace {
    /** What events happen in. */
    interface Traced {
        /** Writes down what happens here from now on. From any thread. */
        void trace(TraceLog log, String node, int shard);

        /** Ends that. From any thread. */
        void traceNoMore();
    }

    private final Supplier<String> node;
    private final Supplier<List<? extends Traced>> cells;
    private final ReentrantLock lock = new ReentrantLock();
    /** All of it is made when it is wanted for the first time. */
    private @Nullable TraceLog log;

    private @Nullable TraceFile file;
    private boolean on;

    /** @param cells of the member, in the order of their shards */
    MemberTrace(Supplier<String> node, Supplier<List<? extends Traced>> cells) {
        this.node = node;
        this.cells = cells;
    }

    void start() {
        lock.lock();
        try {
            if (!on) {
                on = true;
                TraceLog into = log();
                into.here("", "records from now on");
                List<? extends Traced> all = cells.get();
                for (int shard = 0; shard < all.size(); shard++) {
                    all.get(shard).trace(into, node.get(), shard);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Also into a file of that directory, until {@link #close}. */
    void startTo(Path directory) throws IOException {
        lock.lock();
        try {
            if (file == null) {
                file = new TraceFile(log(), directory, "member-" + node.get());
            }
        } finally {
            lock.unlock();
        }
        start();
    }

    /** What is there stays. */
    void stop() {
        lock.lock();
        try {
            if (on) {
                on = false;
                cells.get().forEach(Traced::traceNoMore);
                log().here("", "records no more");
                log().stop();
            }
        } finally {
            lock.unlock();
        }
    }

    private TraceLog log() {
        TraceLog made = log;
        if (made == null) {
            made = new TraceLog(TraceLog.Role.MEMBER, node.get());
            log = made;
        }
        return made;
    }

    /** What an administrator asks. On the thread of a cell. */
    Optional<TracePage> asked(AskTrace ask) {
        switch (ask.what()) {
            case AskTrace.START -> start();
            case AskTrace.STOP -> stop();
            default -> {
                // A question of a later version is answered as if it only read.
            }
        }
        lock.lock();
        try {
            return Optional.of(
                    log == null
                            ? new TracePage(ask.request(), false, 0, false, "")
                            : log.page(ask.request(), on, ask.from()));
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            if (file != null) {
                file.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
