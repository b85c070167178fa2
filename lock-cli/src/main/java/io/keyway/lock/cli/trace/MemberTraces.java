// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import io.keyway.lock.peer.trace.Tracing;
import io.keyway.lock.peer.trace.Tracing.Page;
import io.keyway.lock.peer.trace.Tracing.What;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Asks one member for what it wrote down, over a client of its own. */
public final class MemberTraces {
    private static final long AGAIN_NANOS = 20_000_000;

    private final Tracing tracing;
    private final long limit;

    /** @param limit how long an answer may take, connecting included */
    public MemberTraces(Tracing tracing, Duration limit) {
        this.tracing = tracing;
        this.limit = limit.toNanos();
    }

    /**
     * Begins or ends the recording, or changes nothing.
     *
     * @return whether it records now
     * @throws TimeoutException if it does not answer
     */
    public boolean tell(What what) throws InterruptedException, TimeoutException {
        return ask(what, Long.MAX_VALUE).on();
    }

    /**
     * Adds all that the member has.
     *
     * @return whether it records now
     * @throws TimeoutException if it does not answer
     */
    public boolean read(TraceFiles into) throws InterruptedException, TimeoutException {
        Page page = ask(What.READ, 0);
        into.add(page.text());
        while (page.more()) {
            page = ask(What.READ, page.next());
            into.add(page.text());
        }
        return page.on();
    }

    private Page ask(What what, long from) throws InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + limit;
        while (true) {
            CompletionStage<Page> answer = tracing.ask(what, from);
            long left = deadline - System.nanoTime();
            try {
                return answer.toCompletableFuture().get(Math.max(1, left), TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                if (left < AGAIN_NANOS) {
                    TimeoutException late = new TimeoutException("it gives no answer");
                    late.initCause(e);
                    throw late;
                }
                TimeUnit.NANOSECONDS.sleep(AGAIN_NANOS); // it is being dialled
            }
        }
    }
}
