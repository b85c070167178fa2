/** The façade over engines and the engine over stores; reached only through {@code OpenRequest.over}. */
@NullMarked
package io.keyway.lock.kit;

import org.jspecify.annotations.NullMarked;
