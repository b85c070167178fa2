// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

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

/** {@code lock:files:///path/to/directory}: locks for the processes of one machine. */
public final class FilesProvider implements LockProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("files");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Files", "1", ProviderInfo.API_LEVEL, List.of());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return FilesRows.FEATURES;
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.MACHINE;
    }

    @Override
    public LockClient open(OpenRequest request) {
        Path directory = Path.of("/", request.url().path().orElse(""));
        return request.over(new FilesRows(directory));
    }
}
