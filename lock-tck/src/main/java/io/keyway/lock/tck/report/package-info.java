/** What is written about a run: for the eye, for build servers, for publishing. */
@NullMarked
package io.keyway.lock.tck.report;

import org.jspecify.annotations.NullMarked;
