// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.AddressMap;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * The options of the Redis provider, beside the common ones. Whoever needs the value of one asks
 * {@code RedisSettings.get} for it.
 */
public final class RedisOptions {

    static final int LONGEST_PREFIX = 100;

    /** What was declared so far, for {@link #ALL}. */
    private static final List<Option<?>> DECLARED = new ArrayList<>();

    /** What all keys and channels begin with. */
    public static final Option<String> PREFIX = declared(Option.parsed(
                    "prefix", String.class, RedisOptions::checkPrefix, "1 to 100 characters without braces")
            .withDefault("keyway:")
            .withDescription("what all keys and channels begin with; clients with different prefixes share no locks"));

    /** How many connections for calls. */
    public static final Option<Integer> CONNECTIONS = declared(Option.number("connections", 1, 1000)
            .withDefault(8)
            .withDescription("how many connections to each server at most, beside one kept for renewals and releases,"
                    + " and those for messages"));

    /** How many replicas have to know of a grant. */
    public static final Option<Integer> WAIT_REPLICAS = declared(Option.number("waitReplicas", 0, 100)
            .withDefault(0)
            .withDescription("how many replicas must have a grant, and each of its renewals, before it counts; with too"
                    + " few it is given back"));

    /** Whom to trust with TLS. */
    public static final Option<String> TRUST_STORE = declared(Option.text("trustStore")
            .withDescription(
                    "key store file, PKCS#12 or JKS, with the certificates to trust (rediss), in place of the JDK's"));

    /** Its password. */
    public static final Option<String> TRUST_STORE_PASSWORD =
            declared(Option.text("trustStorePassword").withDescription("password of trustStore, if it has one"));

    /** Certificates and trust from code. */
    public static final Option<SSLContext> SSL_CONTEXT = declared(Option.object("sslContext", SSLContext.class)
            .withDescription("certificates and trust (rediss), in place of trustStore"));

    /** Who we are at the sentinels. */
    public static final Option<String> SENTINEL_USER = declared(
            Option.text("sentinelUser").withDescription("ACL user at the sentinels, if they have any (sentinel)"));

    /** Its password. */
    public static final Option<String> SENTINEL_PASSWORD = declared(Option.text("sentinelPassword")
            .withDescription("password at the sentinels, if they ask for one (sentinel)"));

    /** Where to reach servers that announce other addresses. */
    public static final Option<AddressMap> ADDRESS_MAP = declared(AddressMap.OPTION);

    static {
        DECLARED.add(CommonOptions.TOKEN_FLOOR);
    }

    /** All of them. */
    public static final List<Option<?>> ALL = List.copyOf(DECLARED);

    private RedisOptions() {}

    private static <T> Option<T> declared(Option<T> option) {
        DECLARED.add(option);
        return option;
    }

    private static String checkPrefix(String text) {
        if (text.isEmpty()
                || text.length() > LONGEST_PREFIX
                || text.indexOf('{') >= 0
                || text.indexOf('}') >= 0
                || text.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "not a prefix: it has 1 to 100 characters, none of them a brace or a control character");
        }
        return text;
    }
}
