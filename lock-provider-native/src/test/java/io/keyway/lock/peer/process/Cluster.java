// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

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
    private final Links peers;
    private final int first;
    private final List<String> options;
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
        this.peers = new Links(directory, 0, ports);
        for (int i = 0; i < clients; i++) {
            this.clients.add(new Links(directory, i + 1, ports));
        }
        this.options = new ArrayList<>(peers.options());
        options.add("-D" + MemberProgram.ALGORITHM + "=" + algorithm);
        for (int i = 0; i < members + spares; i++) {
            seats.add(new Seat(
                    names.get(i),
                    ports.get(i),
                    directory.resolve("member-" + i),
                    options,
                    ids,
                    maxTtl.toMillis(),
                    secret));
        }
    }

    /** Members, and clients of {@link #url}, that start from now on record their events into that directory. */
    void trace(Path directory) {
        options.add("-D" + MemberProgram.TRACE + "=" + directory);
        trace = "&trace=" + directory;
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

    /** The clients' URL. */
    String url(Duration ttl) {
        return "lock:native:" + algorithm + "://" + ids + "/keyway?ttl=" + text(ttl) + "&maxTtl=" + text(maxTtl)
                + "&secretFile=" + secret + trace;
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

    /** The links of the members among each other. */
    Links peers() {
        return peers;
    }

    /** Ends every fault of every link. */
    void heal() {
        peers.heal();
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
        peers.close();
        clients.forEach(Links::close);
    }
}
