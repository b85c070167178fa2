// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.AddressMap;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.OpenRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

/**
 * What is common to all connections of a client.
 *
 * @param user ACL user; null for the default user
 * @param password null for none
 * @param database the number of the database
 * @param tls null without TLS
 * @param addressMap where announced addresses are reached
 * @param connections at most, to each server
 * @param prefix of all keys and channels
 * @param waitReplicas how many replicas must have a grant
 * @param clientName as it is shown by CLIENT LIST
 * @param connectTimeout bound of one connection's making
 * @param sentinelUser ACL user at the sentinels; null for the default user
 * @param sentinelPassword null for none
 */
record RedisSettings(
        @Nullable String user,
        @Nullable String password,
        int database,
        @Nullable SSLContext tls,
        AddressMap addressMap,
        int connections,
        String prefix,
        int waitReplicas,
        String clientName,
        Duration connectTimeout,
        @Nullable String sentinelUser,
        @Nullable String sentinelPassword) {

    /** Where a server listens unless the URL says otherwise. */
    static final int PORT = 6379;

    /** Where a sentinel listens unless the URL says otherwise. */
    static final int SENTINEL_PORT = 26_379;

    /** Reads all but the database, which stands at different places of the URL's path. */
    static RedisSettings of(OpenRequest request, int database) {
        LockUrl url = request.url();
        return new RedisSettings(
                url.user().filter(user -> !user.isEmpty()).orElse(null),
                url.password().orElse(null),
                database,
                url.provider().equals("rediss") ? tls(request) : null,
                request.get(RedisOptions.ADDRESS_MAP),
                request.get(RedisOptions.CONNECTIONS),
                request.get(RedisOptions.PREFIX),
                request.get(RedisOptions.WAIT_REPLICAS),
                request.clientName().replaceAll("[^!-~]", "_"),
                request.get(CommonOptions.CONNECT_TIMEOUT),
                request.find(RedisOptions.SENTINEL_USER).orElse(null),
                request.find(RedisOptions.SENTINEL_PASSWORD).orElse(null));
    }

    /** Returns the same for connections to sentinels, which have users of their own and no databases. */
    RedisSettings forSentinels() {
        return new RedisSettings(
                sentinelUser,
                sentinelPassword,
                0,
                tls,
                addressMap,
                connections,
                prefix,
                waitReplicas,
                clientName,
                connectTimeout,
                sentinelUser,
                sentinelPassword);
    }

    private static SSLContext tls(OpenRequest request) {
        if (request.find(RedisOptions.SSL_CONTEXT).isPresent()) {
            return request.get(RedisOptions.SSL_CONTEXT);
        }
        try {
            if (request.find(RedisOptions.TRUST_STORE).isEmpty()) {
                return SSLContext.getDefault();
            }
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            char[] password = request.find(RedisOptions.TRUST_STORE_PASSWORD)
                    .map(String::toCharArray)
                    .orElse(null);
            try (InputStream file = Files.newInputStream(Path.of(request.get(RedisOptions.TRUST_STORE)))) {
                trusted.load(file, password);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new InvalidLockUrlException(
                    request.url() + ": the trust store cannot be used: " + e.getMessage()
                            + ". It has to be a PKCS#12 or JKS file that this process can read, with its password in trustStorePassword.",
                    e);
        }
    }

    /** Returns what the driver has to know for a connection, but for TLS. */
    DefaultJedisClientConfig.Builder driver() {
        return DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .clientName(clientName)
                .user(user)
                .password(password)
                .database(database);
    }

    /** Returns what a client of the driver's own has to know, for {@code LockClient.unwrap}. */
    @SuppressWarnings("deprecation") // what replaces it takes files only
    JedisClientConfig driverClient() {
        DefaultJedisClientConfig.Builder driver =
                driver().hostAndPortMapper(announced -> HostAndPort.from(addressMap.reach(announced.toString())));
        if (tls != null) {
            SSLParameters parameters = new SSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            driver.ssl(true).sslSocketFactory(tls.getSocketFactory()).sslParameters(parameters);
        }
        return driver.build();
    }

    /** Hides the password. */
    @Override
    public String toString() {
        return "RedisSettings[user=" + user + ", database=" + database + ", tls=" + (tls != null) + ", prefix=" + prefix
                + "]";
    }
}
