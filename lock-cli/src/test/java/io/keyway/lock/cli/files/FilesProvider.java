// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.files;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Leases in a directory, {@code lock:table:///directory}: the plainest provider that real processes can share. */
public class FilesProvider implements LockProvider {
    private static final Option<String> WITHOUT =
            Option.text("without").withDefault("").withDescription("features that it pretends not to have, by commas");

    @Override
    public Set<String> schemes() {
        return Set.of("table");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Table", "1", ProviderInfo.API_LEVEL, List.of(WITHOUT));
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        Set<Feature> features = EnumSet.of(
                Feature.READ_WRITE, Feature.SEMAPHORE, Feature.FENCING, Feature.FIFO, Feature.LIST, Feature.BREAK);
        String without = url.option(WITHOUT).orElse("");
        features.removeIf(feature -> List.of(without.toUpperCase(Locale.ROOT).split(",", -1))
                .contains(feature.name().replace('_', '-')));
        return features;
    }

    @Override
    public LockClient open(OpenRequest request) {
        Path directory = Path.of("/" + request.url().path().orElseThrow());
        return request.over(new FilesEngine(
                new SharedTable(directory), request.time(), request.clientName(), features(request.url())));
    }
}
