/** Locks in a directory: the provider that the provider author's guide builds. */
@NullMarked
package io.keyway.examples.files;

import org.jspecify.annotations.NullMarked;
