// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.peer.lease.LeaseSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that hosts a directory and does nothing else; it ends by itself when nobody was connected for a minute. */
public final class HostMain {
    private static final Logger LOG = LoggerFactory.getLogger(HostMain.class);
    private static final Duration IDLE = Duration.ofSeconds(60);
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final List<String> JVM =
            List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

    private HostMain() {}

    /** Starts such a process; returns when it is started, not when it serves. */
    static void launch(LocalPlace place) throws IOException, InterruptedException {
        LocalDirectory directory = place.directory();
        new HostLauncher(
                        JVM,
                        HostMain.class.getName(),
                        List.of(
                                directory.path().toString(),
                                Long.toString(place.settings().maxTtl().toNanos())),
                        directory.log())
                .launch();
    }

    /**
     * Hosts until idle, or until ended by a signal.
     *
     * @param args the directory, and maxTtl in nanoseconds
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        LocalPlace place = LocalMode.place(
                Path.of(args[0]), Duration.ofNanos(Long.parseLong(args[1])), LeaseSettings.defaults(), CONNECT);
        if (!(place.directory().arbiter().tryHost() instanceof Arbiter.Hosting hosting)) {
            LOG.info("another process hosts {}", place.directory().path());
            return;
        }
        CountDownLatch ended = new CountDownLatch(1);
        LocalHost host = LocalHost.start(place, hosting, ended::countDown);
        Runtime.getRuntime().addShutdownHook(new Thread(host::close, "keyway-host-signal"));
        while (host.idle() < IDLE.toNanos() && !ended.await(1, TimeUnit.SECONDS)) {
            // asked once a second
        }
        host.close();
    }
}
