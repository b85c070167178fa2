/**
 * The deterministic simulator: many cells in one thread, virtual time, faults drawn from a seed, oracles after every
 * event.
 */
@NullMarked
package io.keyway.lock.simulator;

import org.jspecify.annotations.NullMarked;
