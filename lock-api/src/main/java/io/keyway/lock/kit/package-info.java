/**
 * The façade over engines and the engine over stores; reached only through {@code OpenRequest.over}. Begin with
 * {@code HeldLease} and {@code PendingAcquire}, what a user holds and waits in, then {@code StoreMachine}, which
 * decides over every store; {@code StoreEngine} runs it and {@code StoreCalls} carries out what it wants done.
 */
@NullMarked
package io.keyway.lock.kit;

import org.jspecify.annotations.NullMarked;
