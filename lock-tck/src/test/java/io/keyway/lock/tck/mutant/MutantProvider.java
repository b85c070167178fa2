// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.spi.TimeSource;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/** {@code lock:mutant://name}: the reference with the defect of that name. */
public final class MutantProvider extends ReferenceProvider {

    /** As discovery needs it. */
    public MutantProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("mutant");
    }

    @Override
    public ProviderInfo info() {
        ProviderInfo sane = super.info();
        return new ProviderInfo("Keyway mutant", sane.version(), sane.apiLevel(), sane.options());
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        return Optional.of(FloorMutants.place(url, url.hosts().get(0).name(), word));
    }

    @Override
    public LockClient open(OpenRequest request) {
        Mutant mutant = of(request.url());
        LockClient client = super.open(request);
        ReferenceWorld world = client.unwrap(ReferenceWorld.class);
        TimeSource clock = world.time().<TimeSource>map(manual -> manual).orElse(request.time());
        return mutant.client().make(client, clock);
    }

    @Override
    protected ReferenceStore store(LockUrl url, LongSupplier clock, long tokensAbove) {
        return of(url).store().make(clock, tokensAbove);
    }

    @Override
    protected ReferenceBackend backend(LockUrl url, ReferenceWorld world, TimeSource time, String trouble) {
        return of(url).backend().make(world, time, features(url), trouble);
    }

    private static Mutant of(LockUrl url) {
        String name = url.hosts().get(0).name();
        return Mutants.ALL.stream()
                .filter(mutant -> mutant.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new InvalidLockUrlException(url + ": there is no such mutant"));
    }
}
