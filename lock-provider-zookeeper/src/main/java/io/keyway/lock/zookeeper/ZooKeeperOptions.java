// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * The options of the ZooKeeper provider, beside the common ones. {@code Connector} reads them.
 */
public final class ZooKeeperOptions {

    /** What was declared so far, for {@link #ALL}. */
    private static final List<Option<?>> DECLARED = new ArrayList<>();

    /** The timeout of all sessions. */
    public static final Option<Duration> SESSION_TIMEOUT = declared(Option.duration(
                    "sessionTimeout", Duration.ofMillis(100), Duration.ofHours(24))
            .withDescription("one session timeout for all locks, whatever ttl they ask for; without it each ttl that is"
                    + " asked for has sessions of its own. The ensemble may agree to another one: Lease.ttl() says"
                    + " which"));

    /** Sessions for each timeout. */
    public static final Option<Integer> SESSIONS = declared(Option.number("sessions", 1, 64)
            .withDefault(1)
            .withDescription(
                    "over how many sessions the locks are spread; the loss of one loses the locks of that one"));

    /** Whether connections use TLS. */
    public static final Option<Boolean> TLS = declared(Option.flag("tls")
            .withDefault(false)
            .withDescription("whether connections use TLS; needs io.netty:netty-handler on the class path"));

    /** Whom to trust. */
    public static final Option<String> TLS_TRUST_STORE = declared(
            Option.text("tlsTrustStore").withDescription("file with the certificates to trust: PEM, PKCS#12 or JKS"));

    /** Of the trust store. */
    public static final Option<String> TLS_TRUST_STORE_PASSWORD =
            declared(Option.text("tlsTrustStorePassword").withDescription("password of tlsTrustStore"));

    /** Who this client is. */
    public static final Option<String> TLS_KEY_STORE = declared(Option.text("tlsKeyStore")
            .withDescription("file with this client's key and certificate: PEM, PKCS#12 or JKS"));

    /** Of the key store. */
    public static final Option<String> TLS_KEY_STORE_PASSWORD =
            declared(Option.text("tlsKeyStorePassword").withDescription("password of tlsKeyStore"));

    /** What ZooKeeper's client can be told beyond these, as for SASL. */
    public static final Option<ZKClientConfig> CLIENT_CONFIG =
            declared(Option.object("clientConfig", ZKClientConfig.class)
                    .withDescription("settings of ZooKeeper's client that have no option here, as for SASL"));

    /** The application's own framework, whose session all locks are then in. */
    public static final Option<CuratorFramework> CURATOR = declared(Option.object("curator", CuratorFramework.class)
            .withDescription("the application's CuratorFramework, started; it is used as it is, and never closed."
                    + " The URL names no servers then"));

    /** Who may do what with the nodes. */
    public static final Option<ACLProvider> ACL_PROVIDER = declared(Option.object("aclProvider", ACLProvider.class)
            .withDescription(
                    "the rights to the nodes that are created; without it all rights are those of the URL's user and"
                            + " password, or of everybody"));

    static {
        DECLARED.add(CommonOptions.TOKEN_FLOOR);
    }

    /** All of them. */
    public static final List<Option<?>> ALL = List.copyOf(DECLARED);

    private ZooKeeperOptions() {}

    private static <T> Option<T> declared(Option<T> option) {
        DECLARED.add(option);
        return option;
    }
}
