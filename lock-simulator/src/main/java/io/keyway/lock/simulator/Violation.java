// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** A property does not hold. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String property;

    Violation(String property, String message) {
        super(property + ": " + message);
        this.property = property;
    }

    Violation(String property, String message, Throwable cause) {
        super(property + ": " + message, cause);
        this.property = property;
    }

    /** Its short name, such as R2. */
    String property() {
        return property;
    }
}
