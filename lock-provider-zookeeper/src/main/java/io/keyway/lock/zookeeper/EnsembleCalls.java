// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What a session asks of the ensemble. Each call is sent at once and never repeated; its answer completes on the thread
 * of the session's events, in their order. Whoever needs an answer waits for it by {@link #await}, and no longer than
 * its verb may take in all.
 */
abstract class EnsembleCalls {
    private static final byte[] NOTHING = {};

    private final AtomicLong confirmed = new AtomicLong(System.nanoTime());

    /** The milliseconds by which the ensemble's wall clock is ahead of ours; null until something was created. */
    private volatile @Nullable Long clockAhead;

    abstract ZooKeeper handle();

    /** Who may do what with a node that is to be created at that path. */
    abstract List<ACL> acl(String path);

    /** The ensemble, or the handle, has answered that the session is over. */
    abstract void expired();

    /**
     * Waits for an answer. What was sent stays on its way if this fails.
     *
     * @throws KeeperException what the ensemble answered, or that the connection was lost
     */
    static <T> T await(CompletableFuture<T> answer, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return answer.isDone() ? answer.get() : answer.get(deadline.nanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            TimeoutException late = new TimeoutException("the ensemble did not answer in time");
            late.initCause(e);
            throw late;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeeperException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /**
     * When the last call was sent that a majority has confirmed ({@link System#nanoTime}): the ensemble ends the
     * session no earlier than its timeout after that.
     */
    long confirmedAt() {
        return confirmed.get();
    }

    private void confirm(long sentAt) {
        confirmed.accumulateAndGet(sentAt, (a, b) -> a - b >= 0 ? a : b);
    }

    CompletableFuture<CreateResult> create(String path, byte[] data, CreateMode mode) {
        CompletableFuture<CreateResult> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().create(
                        path,
                        data,
                        acl(path),
                        mode,
                        (rc, asked, context, created, stat) ->
                                written(answer, sentAt, rc, path, () -> created(created, stat)),
                        null);
        return answer;
    }

    private CreateResult created(String path, Stat stat) {
        clockAhead = stat.getCtime() - System.currentTimeMillis();
        return new CreateResult(path, stat);
    }

    CompletableFuture<Boolean> delete(String path) {
        return delete(path, -1);
    }

    /** {@code version}: of the node's data, as it has to be; -1 for any. */
    CompletableFuture<Boolean> delete(String path, int version) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().delete(path, version, (rc, asked, context) -> written(answer, sentAt, rc, path, () -> true), null);
        return answer;
    }

    /**
     * Changes a node's data and deletes a node, in one transaction, so that whoever watches the data hears of it.
     *
     * @param changed the node whose data are changed, which may be the one that is deleted
     */
    CompletableFuture<Boolean> changeAndDelete(String changed, String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().multi(
                        List.of(Op.setData(changed, NOTHING, -1), Op.delete(path, -1)),
                        (rc, asked, context, results) -> written(answer, sentAt, rc, path, () -> true),
                        null);
        return answer;
    }

    /** {@code version}: of the node's data, as it has to be; -1 for any. */
    CompletableFuture<Stat> set(String path, byte[] data, int version) {
        CompletableFuture<Stat> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().setData(
                        path,
                        data,
                        version,
                        (rc, asked, context, stat) -> written(answer, sentAt, rc, path, () -> stat),
                        null);
        return answer;
    }

    /**
     * A transaction, which may change nothing: a majority confirms that nodes are there, and so that the session lives.
     * Completes with a code for each; nothing is done unless all are OK.
     */
    CompletableFuture<List<Code>> transact(List<Op> steps) {
        CompletableFuture<List<Code>> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().multi(
                        steps,
                        (rc, asked, context, results) -> {
                            if (rc == Code.OK.intValue()) {
                                confirm(sentAt);
                            }
                            if (results == null) {
                                fail(answer, rc, "");
                            } else {
                                answer.complete(results.stream()
                                        .map(EnsembleCalls::code)
                                        .toList());
                            }
                        },
                        null);
        return answer;
    }

    /**
     * A transaction whose last step creates a node; completes with the node's path, or empty if nothing was done, since
     * a node is not there, or not as it has to be.
     */
    CompletableFuture<Optional<String>> transactAndCreate(List<Op> steps) {
        CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
        long sentAt = System.nanoTime();
        handle().multi(
                        steps,
                        (rc, asked, context, results) -> {
                            if (rc == Code.OK.intValue()) {
                                confirm(sentAt);
                                CreateResult created = (CreateResult) results.get(results.size() - 1);
                                answer.complete(Optional.of(created.getPath()));
                            } else if (results != null
                                    && (rc == Code.NONODE.intValue() || rc == Code.BADVERSION.intValue())) {
                                answer.complete(Optional.empty());
                            } else {
                                fail(answer, rc, "");
                            }
                        },
                        null);
        return answer;
    }

    private static Code code(OpResult result) {
        return result instanceof OpResult.ErrorResult error ? Code.get(error.getErr()) : Code.OK;
    }

    /**
     * Asks for a node, whether it exists or not, so that the watcher hears of the session.
     *
     * @param taken run when a server has answered, in order with what the watcher hears
     */
    CompletableFuture<Boolean> state(String path, Watcher watcher, Runnable taken) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle().exists(
                        path,
                        watcher,
                        (rc, asked, context, stat) -> {
                            boolean there = rc == Code.OK.intValue() || rc == Code.NONODE.intValue();
                            if (there) {
                                taken.run();
                            }
                            answered(answer, there ? Code.OK.intValue() : rc, path, () -> true);
                        },
                        null);
        return answer;
    }

    /** Takes a watcher out of the handle, at once, whether a server can be reached or not. */
    void removeWatch(String path, Watcher watcher, Watcher.WatcherType type) {
        handle().removeWatches(path, watcher, type, true, (rc, asked, context) -> {}, null);
    }

    CompletableFuture<List<String>> children(String path, @Nullable Watcher watcher) {
        CompletableFuture<List<String>> answer = new CompletableFuture<>();
        handle().getChildren(
                        path,
                        watcher,
                        (int rc, String asked, Object context, List<String> children) ->
                                answered(answer, rc, path, () -> children),
                        null);
        return answer;
    }

    /**
     * A node's children, and its own state at that moment.
     *
     * @param names of the children
     * @param node its state
     */
    record Listing(List<String> names, Stat node) {}

    /** Lists a node's children, with its own state. */
    CompletableFuture<Listing> listing(String path, @Nullable Watcher watcher) {
        CompletableFuture<Listing> answer = new CompletableFuture<>();
        handle().getChildren(
                        path,
                        watcher,
                        (int rc, String asked, Object context, List<String> children, Stat stat) ->
                                answered(answer, rc, path, () -> new Listing(children, stat)),
                        null);
        return answer;
    }

    CompletableFuture<Stat> stat(String path) {
        CompletableFuture<Stat> answer = new CompletableFuture<>();
        handle().exists(path, false, (rc, asked, context, stat) -> answered(answer, rc, path, () -> stat), null);
        return answer;
    }

    <T> CompletableFuture<T> read(String path, @Nullable Watcher watcher, BiFunction<byte[], Stat, T> content) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        handle().getData(
                        path,
                        watcher,
                        (rc, asked, context, data, stat) -> answered(answer, rc, path, () -> content.apply(data, stat)),
                        null);
        return answer;
    }

    /** What is read behind it is not older than the moment at which it was sent. */
    CompletableFuture<Boolean> sync(String path) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        handle().sync(path, (rc, asked, context) -> answered(answer, rc, path, () -> true), null);
        return answer;
    }

    private <T> void written(CompletableFuture<T> answer, long sentAt, int rc, String path, Supplier<T> value) {
        if (rc == Code.OK.intValue()) {
            confirm(sentAt);
        }
        answered(answer, rc, path, value);
    }

    private <T> void answered(CompletableFuture<T> answer, int rc, String path, Supplier<T> value) {
        if (rc == Code.OK.intValue()) {
            answer.complete(value.get());
        } else {
            fail(answer, rc, path);
        }
    }

    /** The ensemble's wall clock, by the last node that was created; for ages that are shown to people. */
    long ensembleMillis(String base, Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        Long ahead = clockAhead;
        if (ahead == null) {
            CreateResult node = await(create(base + "/clock-", NOTHING, CreateMode.EPHEMERAL_SEQUENTIAL), deadline);
            await(delete(node.getPath()), deadline);
            ahead = clockAhead;
        }
        return System.currentTimeMillis() + (ahead == null ? 0 : ahead);
    }

    private void fail(CompletableFuture<?> answer, int rc, String path) {
        if (rc == Code.SESSIONEXPIRED.intValue()) {
            expired();
        }
        answer.completeExceptionally(KeeperException.create(Code.get(rc), path));
    }
}
