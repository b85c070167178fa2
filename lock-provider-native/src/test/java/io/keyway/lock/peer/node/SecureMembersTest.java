// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.security.Certificates;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members that prove themselves to each other as their clients do to them. */
@Timeout(60)
class SecureMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration MAX_TTL = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private TestMembers members;
    private Certificates authority;

    @BeforeEach
    void prepare() throws IOException {
        members = new TestMembers(directory, "a", "b");
        authority = new Certificates(directory, "authority");
    }

    @AfterEach
    void end() {
        members.close();
    }

    private static Security secret(String secret) {
        return security(secret, Optional.empty(), Optional.empty());
    }

    private static Security security(String secret, Optional<Certificates.Pair> own, Optional<Path> authorities) {
        return Security.of(new SecuritySettings(
                Optional.of(secret),
                Optional.empty(),
                Optional.empty(),
                own.map(Certificates.Pair::certificate),
                own.map(Certificates.Pair::key),
                authorities,
                own.isPresent(),
                false,
                Optional.empty(),
                UnaryOperator.identity()));
    }

    @Test
    void membersWithCertificatesConfirmEachOtherAndServeWhoeverHasOne() throws Exception {
        Optional<Path> trusted = Optional.of(authority.authority());
        Certificates.Pair ofA = authority.issue("a", "127.0.0.1");
        members.secure("a", security("the secret of this cluster", Optional.of(ofA), trusted));
        members.secure(
                "b", security("the secret of this cluster", Optional.of(authority.issue("b", "127.0.0.1")), trusted));
        ClusterMember a = members.start("a", "ab", MAX_TTL, true);
        ClusterMember b = members.start("b", "ab", MAX_TTL, true);
        await().atMost(PATIENCE).until(() -> !a.quarantined() && !b.quarantined());
        Certificates.Pair client = authority.issue("client", "client");
        String url = "lock:native://" + members.id("b") + "/" + MemberPlan.CLUSTER
                + "?secret=the%20secret%20of%20this%20cluster&tlsCa=" + authority.authority() + "&tlsCert="
                + client.certificate() + "&tlsKey=" + client.key();
        try (LockClient opened = Locks.open(url)) {
            for (int i = 0; i < 8; i++) {
                try (Lease lease = opened.lock("jobs/" + i).acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
    }

    @Test
    void aMemberWithAnotherSecretIsNotWaitedForInSilence() throws Exception {
        members.secure("a", secret("the secret of this cluster"));
        members.secure("b", secret("the secret of another one"));
        ClusterMember a = members.start("a", "ab", MAX_TTL, true);
        ClusterMember b = members.start("b", "ab", MAX_TTL, true);
        String why = "did not prove that it knows the shared secret: it has another one than this end";
        await().atMost(PATIENCE)
                .until(() -> a.waits().contains(why) && b.waits().contains(why));
        assertThat(a.quarantined()).isTrue();
        assertThat(b.quarantined()).isTrue();
    }
}
