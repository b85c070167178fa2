// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;
import java.util.function.IntSupplier;

/**
 * How many permits of a semaphore may be out at once, in the view of this caller. It is asked once for each call of
 * {@link DistributedSemaphore}, so that it may change while clients run.
 *
 * <pre>{@code
 * // Two jobs for each printer that this client sees at the time of its call.
 * client.semaphore("print", Capacity.perResource(2, () -> printers.size()));
 * }</pre>
 *
 * <p>The store keeps no capacity: clients with different views run side by side, each bound by its own.
 */
public final class Capacity {
    private final int limit;
    private final IntSupplier resources;

    private Capacity(int limit, IntSupplier resources) {
        if (limit < 1) {
            throw new IllegalArgumentException("a capacity is at least 1, not " + limit);
        }
        this.limit = limit;
        this.resources = Objects.requireNonNull(resources, "resources");
    }

    /**
     * {@return a fixed capacity: so many permits for one resource, which is always there}
     *
     * @param permits at least 1
     * @throws IllegalArgumentException if permits is less than 1
     */
    public static Capacity of(int permits) {
        return new Capacity(permits, () -> 1);
    }

    /**
     * {@return {@code limit} permits for each resource} Clients with different views of the number of resources run
     * side by side, each bound by its own.
     *
     * @param limit permits for one resource, at least 1
     * @param resources the number of resources as this client sees it; called once for each call, must not block
     */
    public static Capacity perResource(int limit, IntSupplier resources) {
        return new Capacity(limit, resources);
    }

    /** {@return how many permits there are for one resource, at least 1; of a fixed capacity all of them} */
    public int limit() {
        return limit;
    }

    /**
     * Asks for the capacity of this moment: zero while there are no resources, at most {@link Integer#MAX_VALUE}.
     *
     * @return the capacity, 0 or more
     * @throws IllegalStateException if the number of resources is negative
     */
    public int current() {
        int count = resources.getAsInt();
        if (count < 0) {
            throw new IllegalStateException("the number of resources is negative: " + count);
        }
        return (int) Math.min(Integer.MAX_VALUE, (long) limit * count);
    }
}
