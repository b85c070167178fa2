/** The door for JUnit: the TCK as a test class of a provider's build. */
@NullMarked
package io.keyway.lock.tck.junit;

import org.jspecify.annotations.NullMarked;
