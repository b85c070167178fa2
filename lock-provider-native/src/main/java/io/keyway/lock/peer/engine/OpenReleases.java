// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.Answer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The releases that went to the cells of a client and have no answer yet. */
final class OpenReleases {
    /** A grant that a release is to end. */
    interface Released {
        Key key();

        /** To the cell that has the grant. */
        void post(LockCall call);

        /** Whether what was in use with that token has become another grant. */
        boolean hasBecomeAnother(long token);
    }

    private record Use(Key key, long token) {
        // As a record's own, which cost a JVM that has just started dozens of calls for each release.
        @Override
        public boolean equals(Object other) {
            return other instanceof Use use && token == use.token && key.equals(use.key);
        }

        @Override
        public int hashCode() {
            return 31 * key.hashCode() + Long.hashCode(token);
        }
    }

    private static final class Release extends CompletableFuture<Answer> {
        final Released of;

        Release(Released of) {
            this.of = of;
        }
    }

    private final Map<Use, Release> open = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** {@code unused}: the grant reached nobody. */
    CompletionStage<Answer> send(Released of, long token, boolean unused) {
        Release fresh = new Release(of);
        Release known = open.putIfAbsent(new Use(of.key(), token), fresh);
        Release answer = known == null ? fresh : known;
        of.post(new LockCall.Release(token, unused));
        if (closed) {
            answer.complete(Answer.UNKNOWN); // nobody else will: the cell that would answer has gone
        }
        return answer;
    }

    void done(LockNotice.ReleaseDone done) {
        Release release = open.remove(new Use(done.key(), done.token()));
        if (release != null) {
            // Its grant had become another one, and whoever got that has given it back already.
            boolean over = done.answer() == Answer.NOT_HELD && release.of.hasBecomeAnother(done.token());
            release.complete(over ? Answer.DONE : done.answer());
        }
    }

    void close() {
        closed = true;
        open.values().forEach(release -> release.complete(Answer.UNKNOWN));
    }
}
