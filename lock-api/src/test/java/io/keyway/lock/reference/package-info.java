/**
 * A complete store in memory, for tests: the reference of what the kit expects of a backend, with faults to switch on.
 */
@NullMarked
package io.keyway.lock.reference;

import org.jspecify.annotations.NullMarked;
