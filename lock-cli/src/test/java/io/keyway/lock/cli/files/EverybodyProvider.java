// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.files;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** {@code lock:everybody:///directory}: every process has a table of its own, so that everybody gets every lock. */
public final class EverybodyProvider extends FilesProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("everybody");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Everybody", "1", ProviderInfo.API_LEVEL, List.of());
    }

    @Override
    public LockClient open(OpenRequest request) {
        Path own = Path.of("/" + request.url().path().orElseThrow())
                .resolve(Long.toString(ProcessHandle.current().pid()));
        return super.open(new OpenRequest(
                LockUrl.parse("lock:table://" + own),
                request.options(),
                request.loader(),
                request.time(),
                request.between()));
    }
}
