// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.List;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.X509Util;

/**
 * The settings of a client without TLS: those system properties that ZooKeeper's own reads, but for those of TLS. Its
 * own cannot be made without Netty on the class path, whether TLS is used or not.
 */
final class PlainConfig extends ZKClientConfig {
    private static final List<String> PROPERTIES = List.of(
            JUTE_MAXBUFFER,
            KINIT_COMMAND,
            JGSS_NATIVE,
            ZK_SASL_CLIENT_USERNAME,
            ZK_SASL_CLIENT_CANONICALIZE_HOSTNAME,
            LOGIN_CONTEXT_NAME_KEY,
            ENABLE_CLIENT_SASL_KEY,
            ZOOKEEPER_SERVER_REALM,
            // Without it there is no DIGEST-MD5.
            X509Util.FIPS_MODE_PROPERTY);

    /** Called by the constructor above. */
    @Override
    protected void handleBackwardCompatibility() {
        for (String name : PROPERTIES) {
            String value = System.getProperty(name);
            if (value != null) {
                setProperty(name, value);
            }
        }
    }
}
