// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Option;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TokenFloor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Optional;
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
 * What is common to all connections of a client to one kind of server: the options, which whoever needs one asks for by
 * {@link #get}, and whom the servers take the client for.
 */
final class RedisSettings {

    /** Where a server listens unless the URL says otherwise. */
    static final int PORT = 6379;

    /** Where a sentinel listens unless the URL says otherwise. */
    static final int SENTINEL_PORT = 26_379;

    private final OpenRequest request;
    private final @Nullable SSLContext tls;
    private final @Nullable String user;
    private final @Nullable String password;
    private final int database;

    private RedisSettings(
            OpenRequest request,
            @Nullable SSLContext tls,
            Optional<String> user,
            Optional<String> password,
            int database) {
        this.request = request;
        this.tls = tls;
        this.user = user.orElse(null);
        this.password = password.orElse(null);
        this.database = database;
    }

    /** Those for servers that keep locks; the database stands at different places of the URL's path. */
    static RedisSettings of(OpenRequest request, int database) {
        LockUrl url = request.url();
        return new RedisSettings(
                request,
                url.provider().equals("rediss") ? tls(request) : null,
                url.user().filter(user -> !user.isEmpty()),
                url.password(),
                database);
    }

    /** Returns the same for connections to sentinels, which have users of their own and no databases. */
    RedisSettings forSentinels() {
        return new RedisSettings(
                request,
                tls,
                request.find(RedisOptions.SENTINEL_USER),
                request.find(RedisOptions.SENTINEL_PASSWORD),
                0);
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
                            + ". It has to be a PKCS#12 or JKS file that this process can read, with its password in"
                            + " trustStorePassword.",
                    e);
        }
    }

    /** Returns the value of an option that has one. */
    <T> T get(Option<T> option) {
        return request.get(option);
    }

    /** Returns the URL, its secrets masked as text. */
    LockUrl url() {
        return request.url();
    }

    /** Returns the floor of tokens that the client asks for, if it asks for one. */
    Optional<TokenFloor> floor() {
        return TokenFloor.of(request);
    }

    /** Returns the bound of one connection's making. */
    Duration connectTimeout() {
        return request.get(CommonOptions.CONNECT_TIMEOUT);
    }

    /** Returns certificates and trust; null without TLS. */
    @Nullable
    SSLContext tls() {
        return tls;
    }

    /** Returns where a server is reached that announces that address, host:port. */
    HostAndPort reached(String announced) {
        return HostAndPort.from(request.get(RedisOptions.ADDRESS_MAP).reach(announced));
    }

    /** Returns what the driver has to know for a connection, but for TLS. */
    DefaultJedisClientConfig.Builder driver() {
        return DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .clientName(request.clientName().replaceAll("[^!-~]", "_"))
                .user(user)
                .password(password)
                .database(database);
    }

    /** Returns what a client of the driver's own has to know, for {@code LockClient.unwrap}. */
    @SuppressWarnings("deprecation") // what replaces it takes files only
    JedisClientConfig driverClient() {
        DefaultJedisClientConfig.Builder driver =
                driver().hostAndPortMapper(announced -> reached(announced.toString()));
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
        return "RedisSettings[" + request.url() + ", database=" + database + "]";
    }
}
