// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.IncompleteListingException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Clients of three members over TCP, through the API. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class ClusterClientTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final List<DisklessMember> members = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private MemberList list;

    @BeforeEach
    void start() throws Exception {
        list = DisklessMember.list(3);
        for (NodeId id : list.members()) {
            members.add(new DisklessMember(id, list, Security.insecure(), 1));
        }
    }

    @AfterEach
    void end() {
        clients.forEach(LockClient::close);
        members.forEach(DisklessMember::close);
    }

    private LockClient open(String hosts) {
        LockClient client = Locks.open("lock:native://" + hosts + "/" + DisklessMember.CLUSTER + "?requestTimeout=5s");
        clients.add(client);
        return client;
    }

    private LockClient open() {
        return open(list.toString());
    }

    /** A name that this member decides on. */
    private String nameOf(NodeId owner) {
        for (int i = 0; ; i++) {
            String name = "jobs/" + i;
            if (list.owner(name).equals(owner)) {
                return name;
            }
        }
    }

    @Test
    void locksOfAllMembersExclude() throws Exception {
        LockClient one = open();
        LockClient two = open();
        Set<Long> tokens = new HashSet<>();
        for (int i = 0; i < 40; i++) {
            String name = "jobs/" + i;
            try (Lease held = one.lock(name).acquire()) {
                assertThat(held.isHeld()).isTrue();
                assertThat(two.lock(name).tryAcquire()).as(name).isEmpty();
                tokens.add(held.token());
            }
            try (Lease next = two.lock(name).tryAcquire(LONG).orElseThrow()) {
                assertThat(next.isHeld()).isTrue();
            }
        }
        assertThat(tokens).isNotEmpty();
    }

    @Test
    void aWaiterIsServedWhenTheHolderReleases() throws Exception {
        LockClient one = open();
        LockClient two = open();
        Lease held = one.lock("nightly").acquire();
        CompletableFuture<Lease> waiting = two.lock("nightly").acquireAsync();
        assertThat(waiting).isNotDone();
        held.release();
        assertThat(waiting.get(Patience.seconds(20), TimeUnit.SECONDS).token()).isGreaterThan(held.token());
    }

    @Test
    void urlsInAnyOrderSpellingAndNumberMeetAtOneManager() throws Exception {
        List<NodeId> ids = new ArrayList<>(list.members());
        Collections.reverse(ids);
        List<String> urls = List.of(
                list.toString(),
                String.join(",", ids.stream().map(NodeId::toString).toList()),
                "localhost:" + ids.get(0).port(),
                "LOCALHOST:" + ids.get(1).port() + ",127.0.0.1:1");
        List<LockClient> all = urls.stream().map(this::open).toList();
        for (int i = 0; i < 12; i++) {
            String name = "orders/" + i;
            Lease held = all.get(i % all.size()).lock(name).acquire();
            for (LockClient other : all) {
                if (other != all.get(i % all.size())) {
                    assertThat(other.lock(name).tryAcquire()).isEmpty();
                }
            }
            held.release();
        }
    }

    @Test
    void aListingHasTheNamesOfAllMembersInOrderAndInPages() throws Exception {
        LockClient client = open();
        List<Lease> held = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 10; i < 40; i++) {
            names.add("list/" + i);
            held.add(client.lock("list/" + i).acquire());
        }
        LockClient other = open();
        List<String> seen = new ArrayList<>();
        Optional<String> after = Optional.empty();
        int pages = 0;
        do {
            LockPage page = other.admin().list("list/", after, 7);
            page.locks().forEach(status -> {
                seen.add(status.key().name().toString());
                assertThat(status.holders()).hasSize(1);
            });
            after = page.next();
            pages++;
        } while (after.isPresent());
        assertThat(seen).isEqualTo(names);
        assertThat(pages).isGreaterThan(3);
        held.forEach(Lease::release);
    }

    @Test
    void aMemberThatIsDownIsNamedAndTheOthersServe() throws Exception {
        DisklessMember down = members.remove(1);
        down.close();
        LockClient client = open();
        List<LockName> held = new ArrayList<>();
        for (DisklessMember up : members) {
            Lease lease = client.lock(nameOf(up.id())).acquire();
            assertThat(lease.isHeld()).isTrue();
            held.add(lease.name());
        }
        assertThatThrownBy(() -> client.lock(nameOf(down.id())).tryAcquire(Duration.ofMillis(300)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(down.id().toString());
        assertThatThrownBy(() -> client.admin().list("", Optional.empty(), 10))
                .hasMessageContaining(down.id().toString())
                .isInstanceOfSatisfying(IncompleteListingException.class, incomplete -> {
                    assertThat(incomplete.missing())
                            .singleElement()
                            .asString()
                            .startsWith(down.id() + ": ")
                            .contains("efused");
                    assertThat(incomplete.page().orElseThrow().locks())
                            .extracting(status -> status.key().name())
                            .containsExactlyInAnyOrderElementsOf(held);
                });
    }

    @Test
    void whoLooksAtADeadClusterHearsWhy() throws Exception {
        try (LockClient client = Locks.open("lock:native://" + list + "/orders?requestTimeout=500ms")) {
            members.forEach(DisklessMember::close);
            members.clear();
            // On a busy machine the time of a question may be over before anybody was tried.
            Awaitility.await()
                    .atMost(Patience.of(LONG))
                    .untilAsserted(() -> assertThatThrownBy(() -> client.admin().list("", Optional.empty(), 10))
                            .isInstanceOf(LockUnavailableException.class)
                            .hasMessageContaining("efused"));
            Awaitility.await()
                    .atMost(Patience.of(LONG))
                    .untilAsserted(() -> assertThatThrownBy(() -> client.admin().show(LockKey.lock("x")))
                            .isInstanceOf(LockUnavailableException.class)
                            .hasMessageContaining("efused"));
        }
    }

    @Test
    void aClientThatCameFirstIsServedOnceTheMembersAre() throws Exception {
        members.forEach(DisklessMember::close);
        members.clear();
        LockClient client = open();
        CompletableFuture<Lease> waiting = client.lock("nightly").acquireAsync();
        assertThatThrownBy(() -> client.lock("other").tryAcquire(Duration.ofMillis(200)))
                .isInstanceOf(LockUnavailableException.class);
        for (NodeId id : list.members()) {
            members.add(new DisklessMember(id, list, Security.insecure(), 2));
        }
        assertThat(waiting.get(Patience.seconds(20), TimeUnit.SECONDS).isHeld()).isTrue();
    }

    @Test
    void aHeldLeaseIsLostWhenItsMemberIsGone() throws Exception {
        LockClient client = open();
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        client.addListener(events::add);
        DisklessMember owner = members.get(2);
        Lease lease = client.lock(nameOf(owner.id()))
                .with(LockOptions.none().withTtl(Duration.ofSeconds(1)))
                .acquire();
        members.remove(owner);
        owner.close();
        assertThat(lease.lost()
                        .toCompletableFuture()
                        .get(Patience.seconds(20), TimeUnit.SECONDS)
                        .server())
                .contains(owner.id().toString());
        assertThat(lease.isHeld()).isFalse();
        assertThat(events)
                .anyMatch(event -> event.type() == LockEvent.Type.DISCONNECTED
                        && event.server().equals(Optional.of(owner.id().toString())));
    }

    @Test
    void requestsFollowTheNamesToNewMembers() throws Exception {
        LockClient client = open();
        client.lock("warm").acquire().release();
        MemberList former = list;
        DisklessMember gone = members.remove(0);
        gone.close();
        String name = nameOf(gone.id());
        CompletableFuture<Lease> waiting = client.lock(name).acquireAsync();
        List<NodeId> left = new ArrayList<>(former.members());
        left.remove(gone.id());
        list = new MemberList(left);
        members.forEach(DisklessMember::close);
        members.clear();
        for (NodeId id : left) {
            members.add(new DisklessMember(id, list, Security.insecure(), 5));
        }
        assertThat(waiting.get(Patience.seconds(20), TimeUnit.SECONDS).isHeld()).isTrue();
    }

    @Test
    void openingEagerlyNeedsOneMemberAndNoMore() {
        members.remove(0).close();
        LockClient client = Locks.open("lock:native://" + list + "/" + DisklessMember.CLUSTER + "?connect=eager");
        clients.add(client);
        assertThat(client.guarantees()).isNotNull();
        assertThatThrownBy(() -> Locks.open("lock:native://127.0.0.1:1/orders?connect=eager&connectTimeout=500ms"))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("127.0.0.1:1");
    }

    @Test
    void anotherClusterIsRefusedWithBothNames() {
        LockClient client = Locks.open("lock:native://" + list + "/payments?requestTimeout=5s");
        clients.add(client);
        refusedForGood(client, "the members are of cluster orders, the URL says payments");
    }

    private static void refusedForGood(LockClient client, String why) {
        List<ThrowingCallable> requests = List.of(
                () -> client.lock("x").tryAcquire(),
                () -> client.lock("x").acquire(),
                () -> client.admin().show(LockKey.lock(LockName.of("x"))),
                () -> client.admin().list("", Optional.empty(), 10));
        for (ThrowingCallable request : requests) {
            assertThatThrownBy(request)
                    .hasMessageContaining(why)
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            e -> assertThat(e.retryable()).isFalse());
        }
    }

    @Test
    void anotherMaxTtlIsRefusedWithBothValues() {
        LockClient client = Locks.open("lock:native://" + list + "/orders?maxTtl=30s&requestTimeout=5s");
        clients.add(client);
        refusedForGood(client, "the members run with maxTtl=1m, this client with maxTtl=30s: say maxTtl=1m in the URL");
    }

    @Test
    void aMemberThatRefusedIsAskedAgain() throws Exception {
        DisklessMember former = members.remove(2);
        NodeId id = former.id();
        former.close();
        DisklessMember other = new DisklessMember(id, list, Security.insecure(), 2, Duration.ofSeconds(30));
        members.add(other);
        LockClient client = open(list.members().get(0).toString());
        String name = nameOf(id);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> client.lock(name).tryAcquire())
                    .hasMessageContaining("the members run with maxTtl=30s, this client with maxTtl=1m");
        }
        members.remove(other);
        other.close();
        members.add(new DisklessMember(id, list, Security.insecure(), 3));
        Awaitility.await().atMost(Patience.of(LONG)).ignoreExceptions().until(() -> {
            try (Lease held = client.lock(name).tryAcquire().orElseThrow()) {
                return held.isHeld();
            }
        });
    }
}
