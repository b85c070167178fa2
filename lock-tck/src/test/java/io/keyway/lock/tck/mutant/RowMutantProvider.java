// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** {@code lock:row-mutant:DEFECT:///path/of/file}: {@link RowMutant}. */
public final class RowMutantProvider implements LockProvider {

    /** As discovery needs it. */
    public RowMutantProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("row-mutant");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Rows with a defect", "1", ProviderInfo.API_LEVEL, List.of());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return RowMutant.FEATURES;
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.MACHINE;
    }

    @Override
    public LockClient open(OpenRequest request) {
        String defect = request.url().protocol().orElse("none");
        for (RowMutant.Defect each : RowMutant.Defect.values()) {
            if (each.name().equalsIgnoreCase(defect.replace('-', '_'))) {
                return request.over(new RowMutant(Path.of(request.url().path().orElseThrow()), each));
            }
        }
        throw new IllegalArgumentException(defect);
    }
}
