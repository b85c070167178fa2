/** Providers with one defect each, over the reference: what the kit of tests must find. */
@NullMarked
package io.keyway.lock.tck.mutant;

import org.jspecify.annotations.NullMarked;
