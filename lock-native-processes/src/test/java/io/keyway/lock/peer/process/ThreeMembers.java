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

/**
 * Three members of a cluster, a process each, that crash and stand still together: whichever member has a name, it is
 * concerned.
 */
final class ThreeMembers implements AutoCloseable {
    private static final Duration MAX_TTL = Duration.ofSeconds(5);

    private final List<Seat> seats = new ArrayList<>();
    private final String url;

    ThreeMembers(Path directory) throws IOException, InterruptedException {
        this(directory, "lease");
    }

    /** Members that run that algorithm. */
    ThreeMembers(Path directory, String algorithm) throws IOException, InterruptedException {
        List<Integer> ports = List.of(Ports.free(), Ports.free(), Ports.free());
        String ids =
                String.join(",", ports.stream().map(port -> "127.0.0.1:" + port).toList());
        Path secret = Files.writeString(directory.resolve("secret"), "correct horse battery staple");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        for (int port : ports) {
            seats.add(new Seat(
                    "127.0.0.1:" + port,
                    port,
                    directory.resolve("member-" + port),
                    List.of("-D" + MemberProgram.ALGORITHM + "=" + algorithm),
                    ids,
                    MAX_TTL.toMillis(),
                    secret));
        }
        seats.forEach(Seat::init);
        awaitListening();
        url = "lock:native:" + algorithm + "://" + ids + "/keyway?maxTtl=" + MAX_TTL.toMillis() + "ms&secretFile="
                + secret;
    }

    private void awaitListening() throws InterruptedException {
        for (Seat seat : seats) {
            seat.awaitListening();
        }
    }

    String url() {
        return url;
    }

    List<Seat> seats() {
        return seats;
    }

    void kill() throws InterruptedException {
        for (Seat seat : seats) {
            seat.kill();
        }
    }

    void restart() throws InterruptedException {
        seats.forEach(Seat::begin);
        awaitListening();
    }

    void pause() throws IOException, InterruptedException {
        for (Seat seat : seats) {
            seat.stop();
        }
    }

    void resume() throws IOException, InterruptedException {
        for (Seat seat : seats) {
            seat.cont();
        }
    }

    @Override
    public void close() throws InterruptedException {
        for (Seat seat : seats) {
            seat.close();
        }
    }
}
