// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.Set;

/** Serves {@code lock:redis://host:6379/0}, and {@code lock:rediss://} with TLS. */
public final class RedisProvider implements LockProvider {

    static final int PORT = 6379;

    /** For the service loader. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Keyway Redis", "0.1.0", ProviderInfo.API_LEVEL, RedisOptions.ALL);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return RedisBackend.FEATURES;
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl url = request.url();
        return switch (url.protocol().orElse("")) {
            case "" -> single(request);
            default ->
                throw new InvalidLockUrlException(url + ": there is no protocol '"
                        + url.protocol().orElse("") + "' of Redis; one server is lock:redis://host:6379/0");
        };
    }

    private static LockClient single(OpenRequest request) {
        LockUrl url = request.url();
        if (url.hosts().size() != 1) {
            throw new InvalidLockUrlException(
                    url + ": one server has one host and port, as in lock:redis://host:6379/0");
        }
        RedisSettings settings =
                RedisSettings.of(request, database(url, url.path().orElse("")));
        LockUrl.Host host = url.hosts().get(0);
        RedisLink link = new SingleLink(host.name(), host.portOr(PORT), settings);
        return request.over(new RedisBackend(link, settings, RedisGuarantees.single(settings)));
    }

    /** Reads the number of a database from what of the path is for it: empty, / or /number. */
    static int database(LockUrl url, String path) {
        if (path.isEmpty() || path.equals("/")) {
            return 0;
        }
        if (!path.matches("/[0-9]{1,5}")) {
            throw new InvalidLockUrlException(
                    url + ": the path is the number of the database, as in lock:redis://host:6379/0");
        }
        return Integer.parseInt(path.substring(1));
    }
}
