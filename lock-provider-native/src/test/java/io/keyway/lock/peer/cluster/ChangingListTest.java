// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.security.Security;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A list that changes member by member: the first still decides by the former one when a client learns the next one
 * from the second. What the first granted, or was asked for, is still its own.
 */
class ChangingListTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final List<AutoCloseable> opened = new ArrayList<>();
    private MemberList former;
    private MemberList next;
    private NodeId first;
    private NodeId second;
    private DisklessMember changing;

    @BeforeEach
    void start() throws Exception {
        next = DisklessMember.list(3);
        first = next.members().get(0);
        second = next.members().get(1);
        former = new MemberList(List.of(first, second));
        opened.add(new DisklessMember(first, former, Security.insecure(), 1));
        changing = new DisklessMember(second, former, Security.insecure(), 1);
        opened.add(changing);
    }

    @AfterEach
    void end() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private LockClient open() {
        LockClient client =
                Locks.open("lock:native://" + first + "/" + DisklessMember.CLUSTER + "?requestTimeout=5s&cache=off");
        opened.add(client);
        return client;
    }

    /** A name that goes from one member to another. */
    private String moving(NodeId from, NodeId to) {
        for (int i = 0; ; i++) {
            String name = "jobs/" + i;
            if (former.owner(name).equals(from) && next.owner(name).equals(to)) {
                return name;
            }
        }
    }

    /** The second member starts anew with the next list, and the client hears of it. */
    private void changeSecond(LockClient client) throws Exception {
        opened.remove(changing);
        changing.close();
        opened.add(new DisklessMember(second, next, Security.insecure(), 2));
        String stays = moving(second, second);
        client.lock(stays).tryAcquire(LONG).orElseThrow().release();
    }

    @Test
    void aReleaseGoesToTheMemberThatGranted() throws Exception {
        LockClient client = open();
        String name = moving(first, next.members().get(2));
        Lease held = client.lock(name).acquire();
        LockClient other = open();
        CompletableFuture<Lease> waiting = other.lock(name).acquireAsync();
        client.lock(moving(second, second)).acquire().release();
        changeSecond(client);
        assertThat(held.isHeld()).isTrue();
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).isHeld()).isTrue();
    }

    @Test
    void whoGivesUpLeavesTheQueueThatItStandsIn() throws Exception {
        LockClient holder = open();
        String name = moving(first, next.members().get(2));
        Lease held = holder.lock(name).acquire();
        LockClient client = open();
        CompletableFuture<Optional<Lease>> waiting = client.lock(name).tryAcquireAsync(Duration.ofSeconds(2));
        client.lock(moving(second, second)).acquire().release();
        changeSecond(client);
        assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEmpty();
        held.release();
        LockClient last = open();
        try (Lease free = last.lock(name).tryAcquire(Duration.ofSeconds(5)).orElseThrow()) {
            assertThat(free.isHeld()).isTrue();
        }
    }
}
