// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static io.keyway.lock.zookeeper.EnsembleCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps of a request, one by one. */
class RequestNodeTest {
    private static final Owner OWNER = new Owner("test", Map.of());
    private static final LockKey KEY = LockKey.lock(LockName.of("place"));
    private static final Paths PATHS = new Paths("/keyway");
    private static final String CONTAINER = PATHS.container(KEY);

    private static final List<ACL> ANYONE = List.of(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));

    @AutoClose
    private static OneServer server;

    private final Deadline deadline = Deadline.after(Duration.ofSeconds(60));
    private final AtomicInteger ids = new AtomicInteger();
    private final AtomicInteger turns = new AtomicInteger();
    private final List<Session> sessions = new ArrayList<>();

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @AfterEach
    void endTheSessions() throws Exception {
        for (Session session : sessions) {
            boolean unused = session.handle().close(2_000);
        }
    }

    private Session session() throws Exception {
        Session.Listener deaf = new Session.Listener() {
            @Override
            public void connected(Session session) {}

            @Override
            public void suspended(Session session) {}

            @Override
            public void ended(Session session, String why) {}

            @Override
            public void broken(Session session, long token, String reason) {}
        };
        Session.Common common = new Session.Common(server.address(), ANYONE, Optional.empty(), PATHS);
        Session session = new Session(common, "", deaf, Session.NEVER_REPLACED);
        session.begin(new SessionHandle(server.address(), 60_000, session, false, new PlainConfig(), session));
        sessions.add(session);
        session.awaitConnected(deadline, false);
        return session;
    }

    private RequestNode entered(Session session) throws Exception {
        RequestNode node = request(session);
        node.look(node.enter(deadline).orElseThrow());
        return node;
    }

    private RequestNode request(Session session) {
        Request request =
                new Request(ids.incrementAndGet(), KEY, LockMode.EXCLUSIVE, 1, 1, Duration.ofMinutes(1), true, OWNER);
        return new RequestNode(request, session, CONTAINER, NodeData.of(OWNER).bytes(), new Containers(PATHS), turns());
    }

    /** Counts how often a request was told its turn, or to ask. */
    private LockBackend.Signals turns() {
        return new LockBackend.Signals() {
            @Override
            public void recheck(LockKey key) {
                turns.incrementAndGet();
            }

            @Override
            public void doubt(String why) {}

            @Override
            public void ended(LockKey key, long token, LeaseLoss.Cause cause) {}

            @Override
            public void endedAll(LeaseLoss.Cause cause) {}

            @Override
            public void connected(String server) {}

            @Override
            public void disconnected(String server, String why) {}

            @Override
            public void background(String name, LockBackend.Loop loop) {}
        };
    }

    private String node(Session session) throws Exception {
        return await(session.create(CONTAINER + "/1-1-x-", new byte[0], CreateMode.EPHEMERAL_SEQUENTIAL), deadline)
                .getPath();
    }

    /** All that the server has told it, and what it asked because of that, has come. */
    private void settle(Session session) throws Exception {
        for (int i = 0; i < 3; i++) {
            await(session.sync(CONTAINER), deadline);
        }
    }

    @Test
    void anOldWatchSaysNothingOfANewNode() throws Exception {
        Session own = session();
        Session other = session();
        new Containers(PATHS).make(own, CONTAINER, deadline);
        String before = node(other);
        RequestNode request = entered(own);
        assertThat(request.position().kind()).isEqualTo(QueuePosition.Kind.BEHIND);
        settle(own);
        node(other);
        await(other.delete(request.path().orElseThrow()), deadline);

        request.lost();
        EnsembleCalls.Listing listing = request.enter(deadline).orElseThrow();
        await(other.delete(before), deadline);
        settle(own);

        request.look(listing);
        settle(own);
        assertThat(turns).hasValue(0);
        assertThat(request.position().kind()).isEqualTo(QueuePosition.Kind.BEHIND);
    }

    @Test
    void aPredecessorThatLeavesBeforeItIsWatchedHasLeft() throws Exception {
        Session own = session();
        Session other = session();
        new Containers(PATHS).make(own, CONTAINER, deadline);
        String before = node(other);
        RequestNode request = request(own);
        EnsembleCalls.Listing listing = request.enter(deadline).orElseThrow();
        await(other.delete(before), deadline);

        request.look(listing);
        settle(own);
        assertThat(turns).hasValue(1);
        assertThat(request.position().kind()).isEqualTo(QueuePosition.Kind.GRANTED);
    }
}
