// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.AddressMap;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.util.List;
import javax.net.ssl.SSLContext;

/** The options of the Redis provider, beside the common ones. */
public final class RedisOptions {

    /** What all keys and channels begin with. */
    public static final Option<String> PREFIX = Option.parsed(
                    "prefix", String.class, RedisOptions::checkPrefix, "1 to 100 characters without braces")
            .withDefault("keyway:")
            .withDescription("what all keys and channels begin with; clients with different prefixes share no locks");

    /** How many connections for calls. */
    public static final Option<Integer> CONNECTIONS = Option.number("connections", 1, 1000)
            .withDefault(8)
            .withDescription("how many connections to each server at most, beside one kept for renewals and releases,"
                    + " and those for messages");

    /** How many replicas have to know of a grant. */
    public static final Option<Integer> WAIT_REPLICAS = Option.number("waitReplicas", 0, 100)
            .withDefault(0)
            .withDescription(
                    "how many replicas must have a grant, and each of its renewals, before it counts; with too few it is given back");

    /** Whom to trust with TLS. */
    public static final Option<String> TRUST_STORE = Option.text("trustStore")
            .withDescription(
                    "key store file, PKCS#12 or JKS, with the certificates to trust (rediss), in place of the JDK's");

    /** Its password. */
    public static final Option<String> TRUST_STORE_PASSWORD =
            Option.text("trustStorePassword").withDescription("password of trustStore, if it has one");

    /** Certificates and trust from code. */
    public static final Option<SSLContext> SSL_CONTEXT = Option.object("sslContext", SSLContext.class)
            .withDescription("certificates and trust (rediss), in place of trustStore");

    /** Who we are at the sentinels. */
    public static final Option<String> SENTINEL_USER =
            Option.text("sentinelUser").withDescription("ACL user at the sentinels, if they have any (sentinel)");

    /** Its password. */
    public static final Option<String> SENTINEL_PASSWORD = Option.text("sentinelPassword")
            .withDescription("password at the sentinels, if they ask for one (sentinel)");

    /** Where to reach servers that announce other addresses. */
    public static final Option<AddressMap> ADDRESS_MAP = AddressMap.OPTION;

    /** All of them. */
    public static final List<Option<?>> ALL = List.of(
            PREFIX,
            CONNECTIONS,
            WAIT_REPLICAS,
            TRUST_STORE,
            TRUST_STORE_PASSWORD,
            SSL_CONTEXT,
            SENTINEL_USER,
            SENTINEL_PASSWORD,
            ADDRESS_MAP,
            CommonOptions.TOKEN_FLOOR);

    private RedisOptions() {}

    private static String checkPrefix(String text) {
        if (text.isEmpty()
                || text.length() > 100
                || text.indexOf('{') >= 0
                || text.indexOf('}') >= 0
                || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "not a prefix: it has 1 to 100 characters, none of them a brace or a control character");
        }
        return text;
    }
}
