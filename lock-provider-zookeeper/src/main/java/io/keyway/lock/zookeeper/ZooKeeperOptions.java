// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/** The options of the ZooKeeper provider, beside the common ones. */
public final class ZooKeeperOptions {

    /** The term of all sessions. */
    public static final Option<Duration> SESSION_TIMEOUT = Option.duration(
                    "sessionTimeout", Duration.ofMillis(100), Duration.ofHours(24))
            .withDescription(
                    "one session timeout for all locks, whatever ttl they ask for; without it each ttl that is asked "
                            + "for has sessions of its own. The ensemble may agree to another one: Lease.ttl() says "
                            + "which");

    /** Sessions for each term. */
    public static final Option<Integer> SESSIONS = Option.number("sessions", 1, 64)
            .withDefault(1)
            .withDescription(
                    "over how many sessions the locks are spread; the loss of one loses the locks of that one");

    /** Whether connections use TLS. */
    public static final Option<Boolean> TLS = Option.flag("tls")
            .withDefault(false)
            .withDescription("whether connections use TLS; needs io.netty:netty-handler on the class path");

    /** Whom to trust. */
    public static final Option<String> TLS_TRUST_STORE =
            Option.text("tlsTrustStore").withDescription("file with the certificates to trust: PEM, PKCS#12 or JKS");

    /** Of the trust store. */
    public static final Option<String> TLS_TRUST_STORE_PASSWORD =
            Option.text("tlsTrustStorePassword").withDescription("password of tlsTrustStore");

    /** Who this client is. */
    public static final Option<String> TLS_KEY_STORE = Option.text("tlsKeyStore")
            .withDescription("file with this client's key and certificate: PEM, PKCS#12 or JKS");

    /** Of the key store. */
    public static final Option<String> TLS_KEY_STORE_PASSWORD =
            Option.text("tlsKeyStorePassword").withDescription("password of tlsKeyStore");

    /** What ZooKeeper's client can be told beyond these, as for SASL. */
    public static final Option<ZKClientConfig> CLIENT_CONFIG = Option.object("clientConfig", ZKClientConfig.class)
            .withDescription("settings of ZooKeeper's client that have no option here, as for SASL");

    /** The application's own framework, whose session all locks are then in. */
    public static final Option<CuratorFramework> CURATOR = Option.object("curator", CuratorFramework.class)
            .withDescription(
                    "the application's CuratorFramework, started; it is used as it is, and never closed. The URL names "
                            + "no servers then");

    /** Who may do what with the nodes. */
    public static final Option<ACLProvider> ACL_PROVIDER = Option.object("aclProvider", ACLProvider.class)
            .withDescription(
                    "who may do what with the nodes that are created; without it whoever the URL's user and password "
                            + "name, or everybody");

    /** All of them. */
    public static final List<Option<?>> ALL = List.of(
            SESSION_TIMEOUT,
            SESSIONS,
            TLS,
            TLS_TRUST_STORE,
            TLS_TRUST_STORE_PASSWORD,
            TLS_KEY_STORE,
            TLS_KEY_STORE_PASSWORD,
            CLIENT_CONFIG,
            CURATOR,
            ACL_PROVIDER,
            CommonOptions.TOKEN_FLOOR);

    private ZooKeeperOptions() {}
}
