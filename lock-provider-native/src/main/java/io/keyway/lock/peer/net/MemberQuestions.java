// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.trace.Tracing;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** What an administrator asks the member at the other end of a client's connection. */
public final class MemberQuestions implements Tracing {
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final ClientLoop io;
    private final Supplier<List<CellLoop>> cells;
    private final Supplier<CompletionStage<List<String>>> members;

    /**
     * Questions that have not been asked.
     *
     * @param io runs the cells
     * @param cells of the client; asked in a task
     * @param members answers {@link #members}
     */
    public MemberQuestions(
            ClientLoop io, Supplier<List<CellLoop>> cells, Supplier<CompletionStage<List<String>>> members) {
        this.io = io;
        this.cells = cells;
        this.members = members;
    }

    @Override
    public CompletionStage<List<String>> members() {
        return members.get();
    }

    @Override
    public CompletionStage<Page> ask(What what, long from) {
        CompletableFuture<Page> answer = new CompletableFuture<>();
        AskTrace question = new AskTrace(
                NUMBERS.incrementAndGet(),
                switch (what) {
                    case READ -> AskTrace.READ;
                    case START -> AskTrace.START;
                    case STOP -> AskTrace.STOP;
                },
                from);
        try {
            io.execute(() -> ask(question, answer));
        } catch (RejectedExecutionException e) {
            answer.completeExceptionally(new IllegalStateException("this client is closed", e));
        }
        return answer;
    }

    private void ask(AskTrace question, CompletableFuture<Page> answer) {
        for (CellLoop cell : cells.get()) {
            boolean asked = cell.ask(question, page -> {
                if (page.request() == question.request()) {
                    answer.complete(new Page(page.on(), page.next(), page.more(), page.text()));
                }
            });
            if (asked) {
                return;
            }
        }
        answer.completeExceptionally(new IllegalStateException("there is no connection"));
    }
}
