// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.proxy.Ports;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many members lead, and which, as URLs of hosted members say it. */
class ElectionOptionsTest {
    @TempDir
    Path directory;

    private String member;

    @BeforeEach
    void choosePort() throws Exception {
        member = "127.0.0.1:" + Ports.free();
    }

    private String url(String algorithm, String options) {
        return "lock:native:" + algorithm + "://" + member + "/keyway?maxTtl=500ms&ttl=500ms&" + options;
    }

    private String hosted() {
        return "&member=" + member + "&data=" + directory.resolve("data");
    }

    private static void assertRefused(String url, String why) {
        assertThatThrownBy(() -> Locks.open(url).close())
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining(why);
    }

    @Test
    void aMemberThatLeadsAloneServes() throws Exception {
        try (LockClient client = Locks.open(url("bakery", "leaders=1&priority=15" + hosted()))) {
            assertThat(client.lock("job").tryAcquire(Duration.ofMinutes(1))).isPresent();
            assertRefused(url("bakery", "leaders=3" + hosted()), "give all of its clients the same");
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        assertRefused(url("bakery", "leaders=2" + hosted()), "leaders: 2 is none of 1, 3 and 5");
        assertRefused(url("bakery", "priority=16" + hosted()), "priority: \"16\" is outside");
        assertRefused(url("bakery", "leaders=3"), "leaders and priority are of a member; add member=HOST:PORT");
        assertRefused(url("lease", "priority=1" + hosted()), "lease elects no leaders, as bakery and failover do");
        assertRefused(url("failover", "leaders=3" + hosted()), "leaders: failover has 1, not 3");
        assertRefused(url("bakery", "shards=2" + hosted()), "shards: members of bakery decide on all names in one");
    }
}
