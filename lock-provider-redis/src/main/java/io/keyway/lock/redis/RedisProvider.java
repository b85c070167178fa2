// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.Library;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.Optional;
import java.util.Set;

/**
 * Serves {@code lock:redis://host:6379/0}, one server; {@code lock:redis:sentinel://host1,host2/master/0}, the master
 * that sentinels agree on; {@code lock:redis:cluster://host1,host2}; and each of these with TLS as {@code lock:rediss}.
 */
public final class RedisProvider implements LockProvider {

    private static final String FORMS =
            "lock:redis://host:6379/0 (one server), lock:redis:sentinel://host1,host2,host3/master/0 and"
                    + " lock:redis:cluster://host1,host2,host3";

    private static final Library JEDIS =
            new Library("Jedis", "5.1", "redis.clients.jedis.ClientSetInfoConfig", "redis.clients.jedis.Connection");

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
        return RedisGuarantees.FEATURES;
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        String prefix = url.option(RedisOptions.PREFIX)
                .or(RedisOptions.PREFIX::defaultValue)
                .orElseThrow();
        // Within the prefix of a user's rights, as long as there is room.
        String apart = prefix + "tck-" + word + ":";
        return apart.length() > RedisOptions.LONGEST_PREFIX
                ? Optional.empty()
                : Optional.of(url.withOption(RedisOptions.PREFIX.name(), apart));
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl url = request.url();
        JEDIS.require(url, RedisProvider.class.getClassLoader());
        return switch (url.protocol().orElse("")) {
            case "" -> single(request);
            case "sentinel" -> sentinel(request);
            case "cluster" -> cluster(request);
            default ->
                throw new InvalidLockUrlException(
                        url + ": there is no protocol '" + url.protocol().orElse("") + "' of Redis, but " + FORMS);
        };
    }

    private static LockClient single(OpenRequest request) {
        LockUrl url = request.url();
        if (url.hosts().size() != 1) {
            throw new InvalidLockUrlException(url + ": one server has one host; there are " + FORMS);
        }
        RedisSettings settings =
                RedisSettings.of(request, database(url, url.path().orElse("")));
        RedisLink link = new SingleLink(settings);
        return request.over(new RedisBackend(link, settings, RedisGuarantees.single()));
    }

    private static LockClient sentinel(OpenRequest request) {
        LockUrl url = request.url();
        String path = url.path().orElse("");
        int second = path.indexOf('/', 1);
        String master = path.substring(Math.min(1, path.length()), second < 0 ? path.length() : second);
        if (url.hosts().isEmpty() || master.isEmpty()) {
            throw new InvalidLockUrlException(
                    url + ": sentinels have hosts, and after them the name of their master; there are " + FORMS);
        }
        RedisSettings settings = RedisSettings.of(request, database(url, second < 0 ? "" : path.substring(second)));
        RedisLink link = new SentinelLink(master, settings);
        return request.over(new RedisBackend(link, settings, RedisGuarantees.replicated(settings)));
    }

    private static LockClient cluster(OpenRequest request) {
        LockUrl url = request.url();
        if (url.hosts().isEmpty() || database(url, url.path().orElse("")) != 0) {
            throw new InvalidLockUrlException(url + ": a cluster has hosts, and no database but 0; there are " + FORMS);
        }
        RedisSettings settings = RedisSettings.of(request, 0);
        RedisLink link = new ClusterLink(settings);
        return request.over(new RedisBackend(link, settings, RedisGuarantees.replicated(settings)));
    }

    /** Reads the number of a database from what of the path is for it: empty, / or /number. */
    static int database(LockUrl url, String path) {
        if (path.isEmpty() || path.equals("/")) {
            return 0;
        }
        if (!path.matches("/[0-9]{1,5}")) {
            throw new InvalidLockUrlException(url + ": that is not the number of a database; there are " + FORMS);
        }
        return Integer.parseInt(path.substring(1));
    }
}
