// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;

/**
 * How a {@link LockTransaction} is to behave. Immutable; each method gives another one.
 *
 * <p>{@link #defaults()}: in a deadlock it surrenders what it has not been told to hold, or its place in a queue, and
 * is aborted if something else of it is in the way; its age and its priority are 0; its locks have the client's
 * options.
 */
public final class TransactionOptions {
    /** What a transaction does when it is the one that has to give way. */
    public enum OnDeadlock {
        /**
         * It surrenders a lock that it has been granted and not been told to hold, or its place among those who wait,
         * and goes on waiting. So a transaction whose locks are asked for at once survives each deadlock, and one that
         * takes them step by step, whose earlier locks are in use, is aborted.
         */
        SURRENDER,
        /** It is aborted in any case. */
        ABORT
    }

    private static final TransactionOptions DEFAULTS =
            new TransactionOptions(OnDeadlock.SURRENDER, 0, 0, LockOptions.none(), false, false);

    /** The highest priority. */
    public static final int MAX_PRIORITY = 1000;

    private final OnDeadlock onDeadlock;
    private final int priority;
    private final int age;
    private final LockOptions lockOptions;
    private final boolean tree;
    private final boolean awaitNodes;

    private TransactionOptions(
            OnDeadlock onDeadlock, int priority, int age, LockOptions lockOptions, boolean tree, boolean awaitNodes) {
        this.tree = tree;
        this.awaitNodes = awaitNodes;
        this.onDeadlock = onDeadlock;
        this.priority = priority;
        this.age = age;
        this.lockOptions = lockOptions;
    }

    /** {@return the usual options} */
    public static TransactionOptions defaults() {
        return DEFAULTS;
    }

    /**
     * {@return the same with that answer to a deadlock}
     *
     * @param answer what to do
     */
    public TransactionOptions withOnDeadlock(OnDeadlock answer) {
        return new TransactionOptions(
                Objects.requireNonNull(answer, "answer"), priority, age, lockOptions, tree, awaitNodes);
    }

    /**
     * {@return the same with that priority} Of a circle the transaction with the lowest priority gives way, whatever
     * its age: among equal ones nobody has to give way again and again, but one of a low priority may.
     *
     * @param rank 0 to {@value #MAX_PRIORITY}
     * @throws IllegalArgumentException if it is outside these bounds
     */
    public TransactionOptions withPriority(int rank) {
        if (rank < 0 || rank > MAX_PRIORITY) {
            throw new IllegalArgumentException("a priority is 0 to " + MAX_PRIORITY + ", not " + rank);
        }
        return new TransactionOptions(onDeadlock, rank, age, lockOptions, tree, awaitNodes);
    }

    /**
     * {@return the same with that age} Who has given way more often gives way later. The work of a transaction that was
     * aborted is done by another one, which begins with the number of the aborted ones before it as its age: then it is
     * not its turn again and again. {@link DeadlockException#nextAge()} is that number.
     *
     * @param timesGivenWay at least 0
     * @throws IllegalArgumentException if it is negative
     */
    public TransactionOptions withAge(int timesGivenWay) {
        if (timesGivenWay < 0) {
            throw new IllegalArgumentException(
                    "the age is how often this work has given way: 0 or more, not " + timesGivenWay);
        }
        return new TransactionOptions(onDeadlock, priority, timesGivenWay, lockOptions, tree, awaitNodes);
    }

    /**
     * {@return the same with those options for each lock, over the client's}
     *
     * @param options ttl, metadata and so on
     */
    public TransactionOptions withLockOptions(LockOptions options) {
        return new TransactionOptions(
                onDeadlock, priority, age, Objects.requireNonNull(options, "options"), tree, awaitNodes);
    }

    /**
     * {@return the same with names that are paths of a tree, or with flat ones} Each of its locks is then one of its
     * name and of all names below it, as {@link LockClient#tree} has it. Needs {@link Feature#TREE}.
     *
     * @param paths whether names are paths of a tree
     */
    public TransactionOptions withTree(boolean paths) {
        return new TransactionOptions(onDeadlock, priority, age, lockOptions, paths, awaitNodes);
    }

    /**
     * {@return the same, which waits for nodes that do not answer, or does not} A lock over nodes of which too few
     * answer fails after {@code requestTimeout}, unless this is set: then it waits for their return, and holds no node
     * meanwhile, so that those who can reach enough of them go on.
     *
     * @param waits whether to wait for the return of nodes
     */
    public TransactionOptions withAwaitNodes(boolean waits) {
        return new TransactionOptions(onDeadlock, priority, age, lockOptions, tree, waits);
    }

    /** {@return what to do in a deadlock} */
    public OnDeadlock onDeadlock() {
        return onDeadlock;
    }

    /** {@return the priority; the lowest of a circle gives way} */
    public int priority() {
        return priority;
    }

    /** {@return how often this work has given way before; at least 0} */
    public int age() {
        return age;
    }

    /** {@return whether its names are paths of a tree} */
    public boolean tree() {
        return tree;
    }

    /** {@return whether it waits for the return of nodes} */
    public boolean awaitNodes() {
        return awaitNodes;
    }

    /** {@return the options for each lock, over the client's} */
    public LockOptions lockOptions() {
        return lockOptions;
    }

    @Override
    public String toString() {
        return "TransactionOptions[onDeadlock=" + onDeadlock + ", priority=" + priority + ", age=" + age
                + (tree ? ", tree, " : ", ") + (awaitNodes ? "awaitNodes, " : "") + lockOptions + "]";
    }
}
