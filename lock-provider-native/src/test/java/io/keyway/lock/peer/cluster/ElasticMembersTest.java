// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members that come and go over sockets, while users hold and take locks. */
@Execution(ExecutionMode.CONCURRENT)
class ElasticMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LONGEST = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private TestMembers members;

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c", "d");
        members.startAll("abc", LONGEST, true);
    }

    @AfterEach
    void end() {
        members.close();
    }

    private LockClient open(String letters) {
        return Locks.open("lock:native:failover://" + String.join(",", members.ids(letters))
                + "/keyway?cache=off&maxTtl=" + LONGEST.toSeconds() + "s&ttl=" + LONGEST.toSeconds() + "s");
    }

    @Test
    void aMachineIsReplacedWhileLocksAreHeldAndClientsFollow() throws Exception {
        try (LockClient holder = open("abc");
                LockClient operator = open("abc")) {
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            Lease held = holder.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            members.start("d", "abc", LONGEST, false);

            assertThat(list.add(members.id("d"), PATIENCE))
                    .endsWith(members.id("d"))
                    .hasSize(4);
            String leader =
                    await().atMost(Patience.of(PATIENCE)).until(() -> members.leader(), each -> !each.isEmpty());
            assertThat(list.remove(members.id(leader), PATIENCE)).hasSize(3).doesNotContain(members.id(leader));

            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded(leader));
            // The holder is heard by the next leader, whose silence is not over.
            await().atMost(Patience.of(PATIENCE)).until(() -> held.remaining().compareTo(Duration.ofSeconds(14)) > 0);
            assertThat(held.isHeld()).isTrue();
            try (LockClient old = open("abc")) {
                assertThat(old.unwrap(ClusterMembers.class).list(PATIENCE))
                        .contains(members.id("d"))
                        .doesNotContain(members.id(leader));
                assertThat(old.lock("job").tryAcquire()).as("it is held").isEmpty();
            }
            held.close();
        }
    }

    @Test
    void whatCannotBeIsSaid() throws Exception {
        try (LockClient client = open("abc");
                LockClient other = Locks.open("lock:native:mem://here")) {
            ClusterMembers list = client.unwrap(ClusterMembers.class);
            List<String> ids = members.ids("abc");

            assertThat(list.add(ids.get(0), PATIENCE)).as("it is one").isEqualTo(ids);
            assertThat(list.remove(members.id("d"), PATIENCE)).as("it is none").isEqualTo(ids);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> list.add("nonsense", PATIENCE))
                    .withMessageContaining("host:port");
            assertThatThrownBy(() -> list.add(members.id("d"), Duration.ofSeconds(1)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(members.id("d") + " does not answer")
                    .hasMessageContaining("--join");
            assertThatIllegalArgumentException().isThrownBy(() -> other.unwrap(ClusterMembers.class));
        }
    }

    @Test
    void whoCannotJoinIsRefusedBeforeAnythingIsMade() throws Exception {
        for (Algorithm other : List.of(new LeaseAlgorithm(), new LamportAlgorithm())) {
            try (TestMembers none = new TestMembers(directory.resolve("none"), other, members)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> none.start("d", "abc", LONGEST, false))
                        .withMessageContaining("not by --join");
                assertThat(none.data("d")).doesNotExist();
            }
        }
    }

    @Test
    void theOnlyMemberIsNotRemoved() throws Exception {
        members.close();
        TestMembers one = new TestMembers(directory.resolve("one"), new FailoverAlgorithm(), "a");
        one.start("a", "a", LONGEST, true);
        try (LockClient client = Locks.open("lock:native:failover://" + one.id("a") + "/keyway?maxTtl=20s")) {
            ClusterMembers list = client.unwrap(ClusterMembers.class);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> list.remove(one.id("a"), PATIENCE))
                    .withMessageContaining("the only member");
        } finally {
            one.close();
        }
    }
}
