// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.spi.TokenFloor;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** {@code lock:row-mutant:DEFECT:///path/of/file}: {@link RowMutant}. */
public final class RowMutantProvider implements LockProvider {
    private static final String PLACE = "-tck-";

    /** As discovery needs it. */
    public RowMutantProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("row-mutant");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Rows with a defect", "1", ProviderInfo.API_LEVEL, List.of(CommonOptions.TOKEN_FLOOR));
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        return Optional.of(url.withPath(url.path().orElseThrow() + PLACE + word));
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
        String path = request.url().path().orElseThrow();
        String defect = request.url().protocol().orElse("none");
        for (RowMutant.Defect each : RowMutant.Defect.values()) {
            if (each.name().equalsIgnoreCase(defect.replace('-', '_'))) {
                if (each == RowMutant.Defect.FORBIDDEN_PLACE && path.contains(PLACE)) {
                    throw new InvalidLockUrlException(request.url() + ": this user may not make files there");
                }
                long floor = TokenFloor.of(request).map(TokenFloor::wanted).orElse(0L);
                return request.over(new RowMutant(Path.of(path), each, floor));
            }
        }
        throw new IllegalArgumentException(defect);
    }
}
