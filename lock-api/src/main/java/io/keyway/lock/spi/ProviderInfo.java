// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.Option;
import java.util.List;
import java.util.Objects;

/**
 * What a provider says about itself.
 *
 * @param name for people
 * @param version its own
 * @param apiLevel the {@link #API_LEVEL} that it was built for
 * @param options its options, without the common ones
 */
public record ProviderInfo(String name, String version, int apiLevel, List<Option<?>> options) {
    /** The level of this SPI. */
    public static final int API_LEVEL = 1;

    /**
     * Copies the list.
     *
     * @param name see the record
     * @param version see the record
     * @param apiLevel see the record
     * @param options see the record
     */
    public ProviderInfo {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(version, "version");
        options = List.copyOf(options);
    }
}
