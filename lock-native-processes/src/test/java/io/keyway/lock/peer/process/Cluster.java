// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Members, a process each, and links to them that can be broken: those of each client, and those of the members among
 * each other.
 */
final class Cluster implements AutoCloseable {
    private final String algorithm;
    private Duration maxTtl;
    private String ids;
    private final Path secret;
    private final List<Seat> seats = new ArrayList<>();
    private final List<Links> clients = new ArrayList<>();
    /** Those of all members, or of each. */
    private final List<Links> peers = new ArrayList<>();

    private final int first;
    private final List<List<String>> options = new ArrayList<>();
    private String trace = "";

    Cluster(Path directory, int members, int clients, Duration maxTtl) throws IOException {
        this(directory, members, 0, clients, maxTtl);
    }

    /** As above, with places for so many members that its list can be given later. */
    Cluster(Path directory, int members, int spares, int clients, Duration maxTtl) throws IOException {
        this("lease", directory, members, spares, clients, maxTtl);
    }

    /** As above, of members that run that algorithm. */
    Cluster(String algorithm, Path directory, int members, int spares, int clients, Duration maxTtl)
            throws IOException {
        this(algorithm, directory, members, spares, clients, maxTtl, 1);
    }

    /** Members of which each has links of its own to the others, so that {@link #split} can cut any off from any. */
    static Cluster divisible(String algorithm, Path directory, int members, int clients, Duration maxTtl)
            throws IOException {
        return divisible(algorithm, directory, members, 0, clients, maxTtl);
    }

    /** As above, with places for so many members that its list can be given later. */
    static Cluster divisible(String algorithm, Path directory, int members, int spares, int clients, Duration maxTtl)
            throws IOException {
        return new Cluster(algorithm, directory, members, spares, clients, maxTtl, members + spares);
    }

    private Cluster(String algorithm, Path directory, int members, int spares, int clients, Duration maxTtl, int sides)
            throws IOException {
        this.algorithm = algorithm;
        this.maxTtl = maxTtl;
        List<Integer> ports = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < members + spares; i++) {
            ports.add(Ports.free());
            names.add(Links.host(i) + ":" + ports.get(i));
        }
        this.ids = String.join(",", names.subList(0, members));
        this.first = members;
        this.secret = Files.writeString(directory.resolve("secret"), "correct horse battery staple");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        for (int i = 0; i < sides; i++) {
            Links links = new Links(directory, i, ports);
            peers.add(links);
            options.add(new ArrayList<>(links.options()));
            options.get(i).add("-D" + MemberProgram.ALGORITHM + "=" + algorithm);
        }
        for (int i = 0; i < clients; i++) {
            this.clients.add(new Links(directory, sides + i, ports));
        }
        for (int i = 0; i < members + spares; i++) {
            seats.add(new Seat(
                    names.get(i),
                    ports.get(i),
                    directory.resolve("member-" + i),
                    options.get(i % sides),
                    ids,
                    maxTtl.toMillis(),
                    secret));
        }
    }

    /** Members, and clients of {@link #url}, that start from now on record their events into that directory. */
    void trace(Path directory) {
        options.forEach(each -> each.add("-D" + MemberProgram.TRACE + "=" + directory));
        trace = "&trace=" + directory;
    }

    /** Members that start from now on have that many cells. */
    void divide(int shards) {
        options.forEach(each -> each.add("-D" + MemberProgram.CELLS + "=" + shards));
    }

    /** Members that start from now on are elected in the order of their numbers; each has links of its own. */
    void electInOrder() {
        for (int i = 0; i < options.size(); i++) {
            options.get(i).add("-D" + MemberProgram.PRIORITY + "=" + (i + 1));
        }
    }

    private static String text(Duration duration) {
        return duration.toMillis() + "ms";
    }

    /** Starts all members of a cluster that never ran; returns when each listens. */
    void start() throws InterruptedException {
        firstList().forEach(Seat::init);
        for (Seat seat : firstList()) {
            seat.awaitListening();
        }
    }

    /** What members and clients that start from now on are given; members outside of the list have ended for good. */
    void configure(List<Seat> list, Duration longestTtl) {
        maxTtl = longestTtl;
        ids = list.stream().map(Seat::id).collect(Collectors.joining(","));
        String removed = seats.stream()
                .filter(seat -> !list.contains(seat))
                .map(Seat::id)
                .collect(Collectors.joining(","));
        list.forEach(seat -> seat.configure(ids, maxTtl.toMillis(), removed));
    }

    /** Its list of members. */
    List<String> ids() {
        return List.of(ids.split(",", -1));
    }

    /** The clients' URL. */
    String url(Duration ttl) {
        return "lock:native:" + algorithm + "://" + ids + "/keyway?ttl=" + text(ttl) + "&maxTtl=" + text(maxTtl)
                + "&secretFile=" + secret + trace;
    }

    /** That of a client in this process, which reaches the members without a link that could be cut. */
    String urlWithoutLinks(Duration ttl) {
        String map = seats.stream()
                .map(seat ->
                        seat.id() + ">127.0.0.1" + seat.id().substring(seat.id().lastIndexOf(':')))
                .collect(Collectors.joining(","));
        return url(ttl) + "&addressMap=" + map;
    }

    /** The members of its first list. */
    List<Seat> firstList() {
        return seats.subList(0, first);
    }

    List<Seat> seats() {
        return seats;
    }

    /** How many clients have links of their own. */
    int clients() {
        return clients.size();
    }

    /** The links of that client. */
    Links client(int client) {
        return clients.get(client);
    }

    /** The links of the members among each other, which they share. */
    Links peers() {
        return peers.get(0);
    }

    /**
     * Cuts the net into islands: whoever is on another one is not heard any more, and all others are.
     *
     * @param islands the number of each member's island and then of each client's
     * @param noticed the connections between islands end by a reset before
     */
    void split(int[] islands, boolean noticed) {
        for (int i = 0; i < islands.length; i++) {
            Links links = i < peers.size() ? peers.get(i) : clients.get(i - peers.size());
            for (int member = 0; member < peers.size(); member++) {
                FaultProxy link = links.to(member);
                if (islands[i] == islands[member]) {
                    link.heal();
                    continue;
                }
                if (noticed) {
                    link.reset();
                }
                link.blackHole();
            }
        }
    }

    /** What one member says to another one is lost from now on, while it hears that one; both by their numbers. */
    void mute(int from, int to) {
        peers.get(from).to(to).cut(Direction.TO_SERVER);
        peers.get(to).to(from).cut(Direction.TO_CLIENT);
    }

    /** Ends every fault of every link. */
    void heal() {
        peers.forEach(Links::heal);
        clients.forEach(Links::heal);
    }

    /** What the present processes of all members have printed. */
    String logs() {
        return seats.stream().map(Seat::log).collect(Collectors.joining("\n"));
    }

    @Override
    public void close() throws InterruptedException {
        for (Seat seat : seats) {
            seat.close();
        }
        peers.forEach(Links::close);
        clients.forEach(Links::close);
    }
}
