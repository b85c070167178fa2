// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The provider does not offer or promise what was asked for. Nothing was sent. */
public final class UnsupportedFeatureException extends LockException {
    private static final long serialVersionUID = 1L;

    private final @Nullable Feature feature;

    /**
     * Makes the exception for a feature; {@code what} completes "... does not offer FEATURE".
     *
     * @param feature what is missing
     * @param what who does not offer it
     */
    public UnsupportedFeatureException(Feature feature, String what) {
        this(
                what + " does not offer "
                        + Objects.requireNonNull(feature, "feature").label() + offeredBy(feature),
                feature);
    }

    /** Which of our providers offer what some of them lack; {@code OfferedByTest} of lock-cli compares it with them. */
    private static String offeredBy(Feature feature) {
        return switch (feature) {
            case READ_WRITE, SEMAPHORE -> "; lock:native, lock:redis, lock:zookeeper and lock:jdbc do";
            case UPGRADE -> "; lock:native, lock:redis and lock:jdbc do";
            case TRANSACTIONS, TREE, NODE_SETS -> "; lock:native does";
            default -> "; LockClient.features() tells what a provider offers";
        };
    }

    private UnsupportedFeatureException(String message, @Nullable Feature feature) {
        super(message, null, null, null, false, false);
        this.feature = feature;
    }

    /** The exception of what the {@code require} option asks for. */
    static UnsupportedFeatureException required(String message) {
        return new UnsupportedFeatureException(message, null);
    }

    /**
     * {@return the missing feature; empty if the {@code require} option named something else, or more than one thing}
     */
    public Optional<Feature> feature() {
        return Optional.ofNullable(feature);
    }
}
