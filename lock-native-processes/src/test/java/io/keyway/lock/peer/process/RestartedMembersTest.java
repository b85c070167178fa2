// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members that are started again at a bad moment, with links that are cut at a bad place: nobody gets a lock that
 * somebody else holds, and no token falls. Each of these made two holders once.
 */
class RestartedMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @TempDir
    Path directory;

    private Cluster cluster;

    private void start(String algorithm, int members, Duration ttl) throws IOException, InterruptedException {
        cluster = Cluster.divisible(algorithm, directory, members, 0, ttl);
        cluster.electInOrder();
        cluster.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        cluster.close();
    }

    private Seat seat(int member) {
        return cluster.seats().get(member);
    }

    /** The numbers of the members that lead, as that one says; empty if it does not know any. */
    private List<Integer> leaders(int at) {
        String said = seat(at).leader();
        return IntStream.range(0, cluster.seats().size())
                .filter(member ->
                        List.of(said.split(",", -1)).contains(seat(member).id()))
                .boxed()
                .toList();
    }

    private void awaitLeaders(int at, Integer... members) {
        await().atMost(Patience.of(PATIENCE)).until(() -> leaders(at), List.of(members)::equals);
    }

    private void restart(int member) throws IOException, InterruptedException {
        seat(member).begin();
        seat(member).awaitListening();
    }

    /** Cuts the net into islands, by the number of each member's. */
    private void split(int... islands) {
        cluster.split(islands, true);
    }

    /** Two islands: those members, and all others. */
    private void together(Integer... members) {
        split(IntStream.range(0, cluster.seats().size())
                .map(member -> Set.of(members).contains(member) ? 1 : 0)
                .toArray());
    }

    private void cut(int one, int other) {
        cluster.mute(one, other);
        cluster.mute(other, one);
    }

    private static void pass(long since, Duration time) {
        await().atMost(Patience.of(PATIENCE)).until(() -> System.nanoTime() - since >= time.toNanos());
    }

    /** A client with links of its own, in this process. */
    private final class Client implements AutoCloseable {
        private final List<FaultProxy> links = new ArrayList<>();
        private final LockClient client;

        /** @param reached the members that it reaches */
        Client(Duration ttl, Integer... reached) throws IOException {
            StringBuilder map = new StringBuilder();
            for (Seat seat : cluster.seats()) {
                int port = Integer.parseInt(seat.id().substring(seat.id().lastIndexOf(':') + 1));
                FaultProxy link = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                links.add(link);
                map.append(map.length() == 0 ? "" : ",")
                        .append(seat.id())
                        .append(">127.0.0.1:")
                        .append(link.address().getPort());
            }
            reach(reached);
            client = Locks.open(cluster.url(ttl) + "&addressMap=" + map);
        }

        void reach(Integer... reached) {
            for (int member = 0; member < links.size(); member++) {
                if (Set.of(reached).contains(member)) {
                    links.get(member).heal();
                } else {
                    links.get(member).blackHole();
                }
            }
        }

        Lease acquire() throws InterruptedException {
            return tries(PATIENCE).orElseThrow(() -> new AssertionError("no lock: " + cluster.logs()));
        }

        Optional<Lease> tries(Duration limit) throws InterruptedException {
            try {
                return client.lock("job").tryAcquire(limit);
            } catch (LockUnavailableException e) {
                return Optional.empty();
            }
        }

        void assertNothing(String why, Duration limit) throws InterruptedException {
            assertThat(tries(limit)).as(() -> why + "\n" + cluster.logs()).isEmpty();
        }

        @Override
        public void close() {
            client.close();
            links.forEach(FaultProxy::close);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            Files.createDirectories(to);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private Path data(int member) {
        return directory.resolve("member-" + member);
    }

    /** 1 and 2 replace 0, which goes on alone; 2 has voted for 1, and comes back to 0 with a backup. */
    @Test
    void aDirectoryThatWasPutBackConfirmsNothingThatIsOver() throws Exception {
        Duration ttl = Duration.ofSeconds(5);
        start("failover", 3, ttl);
        awaitLeaders(2, 0);
        copy(data(2), directory.resolve("backup"));
        together(0);
        awaitLeaders(1, 1);
        try (Client one = new Client(ttl, 0);
                Client two = new Client(ttl, 1)) {
            two.acquire();
            seat(2).kill();
            seat(2).wipe();
            copy(directory.resolve("backup"), data(2));
            together(0, 2);
            restart(2);
            one.assertNothing("two leaders", Duration.ofSeconds(6));
        }
    }

    /** The same, of one that has lost its directory, waits, and is started again before it could learn anything. */
    @Test
    @Tag("soak")
    void aMemberThatHasLostItsFileHasLostItInItsNextLivesToo() throws Exception {
        Duration ttl = Duration.ofSeconds(10);
        start("failover", 3, ttl);
        awaitLeaders(2, 0);
        together(0);
        awaitLeaders(1, 1);
        try (Client one = new Client(ttl, 0);
                Client two = new Client(ttl, 1)) {
            two.acquire();
            for (boolean inOrder : new boolean[] {true, false}) {
                seat(2).kill();
                seat(2).wipe();
                restart(2);
                pass(System.nanoTime(), ttl.plusSeconds(7));
                if (inOrder) {
                    seat(2).end();
                } else {
                    seat(2).kill();
                }
                together(0, 2);
                restart(2);
                one.assertNothing("two leaders", Duration.ofSeconds(15));
                together(0);
                awaitLeaders(2, 1);
            }
        }
    }

    /** 3 gets the seat of 0, and ends in its silence; 1 has let a client of 0 in, of which 2 has not heard. */
    @Test
    @Tag("soak")
    void aLeaderThatHasJustGotItsSeatIsSilentInItsNextLifeToo() throws Exception {
        Duration ttl = Duration.ofSeconds(20);
        start("bakery", 4, ttl);
        awaitLeaders(3, 0, 1, 2);
        try (Client one = new Client(ttl, 0);
                Client two = new Client(ttl, 2, 3)) {
            cut(0, 2);
            one.acquire();
            cut(0, 1);
            cut(0, 3);
            awaitLeaders(3, 1, 2, 3);
            seat(3).kill();
            restart(3);
            two.assertNothing("0 may count 1 and itself for two leases", Duration.ofSeconds(15));
        }
    }

    /** What 1 has let in counts for two leases, over any number of its starts. */
    @Test
    @Tag("soak")
    void aLeaderThatStartsTwiceIsSilentForAsLongAsOneThatStartsOnce() throws Exception {
        Duration ttl = Duration.ofSeconds(20);
        start("bakery", 3, ttl);
        awaitLeaders(0, 0, 1, 2);
        try (Client one = new Client(ttl, 0);
                Client two = new Client(ttl, 1, 2)) {
            seat(2).end();
            one.acquire();
            cut(0, 2);
            restart(2);
            cut(0, 1);
            long over = System.nanoTime();
            seat(1).kill();
            restart(1);
            seat(1).kill();
            pass(over, Duration.ofMillis(20_500));
            restart(1);
            two.assertNothing("0 may count 1 and itself for two leases", Duration.ofSeconds(15));
        }
    }
}
