// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.security.Certificates;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members of which one leads, that prove themselves to each other and to whoever looks for the leader. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class SecureFailoverTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration MAX_TTL = Patience.lease(Duration.ofSeconds(2));
    private static final String SECRET = "the secret of this cluster";
    private static final String OTHER = "the secret of another one";
    private static final String UNPROVED =
            "did not prove that it knows the shared secret: it has another one than this end";

    @TempDir
    Path directory;

    private TestMembers members;
    private Certificates authority;

    @BeforeEach
    void prepare() throws IOException {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c");
        authority = new Certificates(directory, "authority");
    }

    @AfterEach
    void end() {
        members.close();
    }

    private Security withTls(String letter) throws Exception {
        return security(SECRET, Optional.of(authority.issue(letter, "127.0.0.1")));
    }

    /** With certificates, those of others are demanded. */
    private Security security(String secret, Optional<Certificates.Pair> own) {
        return Security.of(new SecuritySettings(
                Optional.of(secret),
                Optional.empty(),
                Optional.empty(),
                own.map(Certificates.Pair::certificate),
                own.map(Certificates.Pair::key),
                own.map(pair -> authority.authority()),
                own.isPresent(),
                false,
                Optional.empty(),
                UnaryOperator.identity()));
    }

    private String url(String options) {
        return "lock:native:failover://" + String.join(",", members.ids("ab")) + "/" + MemberConfig.CLUSTER + "?maxTtl="
                + MAX_TTL.toMillis() + "ms&ttl=" + MAX_TTL.toMillis() + "ms&requestTimeout=30s" + options;
    }

    private static String secret(String secret) {
        return "&secret=" + secret.replace(" ", "%20");
    }

    private static void works(String url) throws Exception {
        try (LockClient client = Locks.open(url);
                Lease lease =
                        client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow()) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** Looks what an application hears. */
    private CompletableFuture<Void> refused(String options, String... words) {
        return CompletableFuture.runAsync(() -> assertThat(Refusal.await(
                        seconds -> url("&connect=eager&connectTimeout=" + seconds + "s" + options), 3, words))
                .doesNotContain(SECRET)
                .doesNotContain("does not lead"));
    }

    /** Starts two members that agree, and one that does not; returns what it is told, and what they are. */
    private List<String> startWith(Security a, Security b, Security odd) throws IOException {
        members.secure("a", a);
        members.secure("b", b);
        members.secure("c", odd);
        List<ClusterMember> all = members.startAll("abc", MAX_TTL, true);
        String awaited = members.id("c") + " (";
        // The first attempts may come before the others listen.
        await().atMost(Patience.of(PATIENCE))
                .until(() -> all.stream().allMatch(each -> each.waits().matches(".*(secret|TLS).*"))
                        && all.get(0).waits().startsWith(awaited)
                        && all.get(1).waits().startsWith(awaited));
        assertThat(all).allSatisfy(each -> assertThat(each.leaders()).isEmpty());
        return List.of(all.get(2).waits(), all.get(0).waits());
    }

    /** The odd one, which never opened, is started as it should have been from the beginning. */
    private void mend(Security security) throws IOException {
        members.end("c");
        members.secure("c", security);
        members.start("c", "abc", MAX_TTL, true, members.data("c-again"), Set.of());
        await().atMost(Patience.of(PATIENCE)).until(() -> !members.leader().isEmpty());
    }

    @Test
    void aSecretThatIsNotTheOthersIsToldAndNobodyLeadsUntilAllHaveThatOfTheCluster() throws Exception {
        Security right = security(SECRET, Optional.empty());
        List<String> told = startWith(right, right, security(OTHER, Optional.empty()));
        assertThat(told).allSatisfy(each -> assertThat(each).contains(UNPROVED));
        CompletableFuture.allOf(
                        refused("", "has a shared secret and this end has none", "add secretFile"),
                        refused(secret(OTHER), "another one than this end"))
                .get();

        mend(right);

        works(url(secret(SECRET)));
    }

    @Test
    void aMemberWithoutTlsIsToldAndNobodyLeadsUntilItHasIt() throws Exception {
        List<String> told = startWith(withTls("a"), withTls("b"), security(SECRET, Optional.empty()));
        assertThat(told.get(0)).contains("the member speaks TLS and this end does not");
        assertThat(told.get(1)).contains("the other end does not speak TLS");

        mend(withTls("c"));

        Certificates.Pair client = authority.issue("client", "client");
        String trusting = "&tlsCa=" + authority.authority();
        String proving = trusting + "&tlsCert=" + client.certificate() + "&tlsKey=" + client.key();
        CompletableFuture.allOf(
                        refused(secret(SECRET), "the member speaks TLS and this end does not", "add tls=true"),
                        refused(secret(SECRET) + trusting, "certificate, or wants one", "give tlsCert and tlsKey"),
                        refused(secret(OTHER) + proving, "another one than this end"))
                .get();
        works(url(secret(SECRET) + proving));
    }
}
