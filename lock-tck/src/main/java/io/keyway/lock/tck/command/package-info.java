/** The command: a run in a JVM of its own, which a provider may hang, crash or end without ending the run. */
@NullMarked
package io.keyway.lock.tck.command;

import org.jspecify.annotations.NullMarked;
