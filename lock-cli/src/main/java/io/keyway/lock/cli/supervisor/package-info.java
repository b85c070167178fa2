/** The process that ends a command when the lock it runs under can be somebody else's. */
@NullMarked
package io.keyway.lock.cli.supervisor;

import org.jspecify.annotations.NullMarked;
