// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package application;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;

/** Takes a lock at each of the URLs that it is given, and tells which jars of Netty and Jedis it runs on. */
public final class Application {
    private Application() {}

    public static void main(String[] urls) throws Exception {
        for (String url : urls) {
            try (LockClient client = Locks.open(url);
                    Lease lease = client.lock("jobs/nightly").acquire()) {
                lease.ensureHeld();
                System.out.println("held at " + url);
            }
        }
        System.out.println("on " + jar("io.netty.channel.nio.NioEventLoop"));
        System.out.println("on " + jar("redis.clients.jedis.UnifiedJedis"));
    }

    private static String jar(String type) throws ClassNotFoundException {
        String place = Class.forName(type)
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        return place.substring(place.lastIndexOf('/') + 1);
    }
}
