/**
 * The rules of queues and grants, once for all stores: a key's {@link io.keyway.lock.kit.table.Row} says who holds it
 * and who waits, {@link io.keyway.lock.kit.table.RowRules} decides what a request makes of it, and
 * {@link io.keyway.lock.kit.table.RowBackend} carries that to a {@link io.keyway.lock.kit.table.RowStore}, which is all
 * that a provider has to write.
 */
@NullMarked
package io.keyway.lock.kit.table;

import org.jspecify.annotations.NullMarked;
