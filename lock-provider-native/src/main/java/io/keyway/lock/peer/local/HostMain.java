// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.LocalDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that hosts a directory and does nothing else; it ends by itself when nobody was connected for a minute. */
public final class HostMain {
    private static final Logger LOG = LoggerFactory.getLogger(HostMain.class);
    private static final Duration IDLE = Duration.ofSeconds(60);
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final int TRIES = 20;
    private static final long BETWEEN_TRIES_MILLIS = 10;
    /** Both compilers: they cost nothing at rest, and a small young generation gives back what they take under load. */
    private static final List<String> JVM = List.of(
            "-Xmx256m",
            "-Xms32m",
            "-Xmn16m",
            "-XX:+UseSerialGC",
            "-XX:+TieredCompilation",
            "-Xshare:auto",
            "-Dio.netty.jfr.enabled=false");

    private HostMain() {}

    /**
     * Goes on if such a process would find this class.
     *
     * @throws InvalidLockUrlException if the libraries are elsewhere, as in an executable jar or a web server
     */
    static void check(LockUrl url, String classPath) {
        if (!HostLauncher.finds(HostMain.class, classPath)) {
            throw new InvalidLockUrlException(url
                    + ": host=process starts another Java process, which would not find this provider on the class "
                    + "path "
                    + classPath + ". Leave host=process out, so that this process serves the locks.");
        }
    }

    /** Starts such a process; returns when it is started, not when it serves. */
    static ProcessHandle launch(LocalConfig config) throws IOException, InterruptedException {
        LocalDirectory directory = config.directory();
        return new HostLauncher(
                        jvmArguments(),
                        HostMain.class.getName(),
                        List.of(
                                directory.path().toString(),
                                Long.toString(config.settings().maxTtl().toNanos())),
                        directory.log())
                .launch();
    }

    /** Classes come from the archive of whoever starts the host, if it has one. */
    private static List<String> jvmArguments() {
        String archive = System.getProperty("keyway.archive");
        if (archive == null) {
            return JVM;
        }
        List<String> arguments = new ArrayList<>(JVM);
        arguments.add("-XX:SharedArchiveFile=" + archive);
        return arguments;
    }

    /**
     * Hosts until idle, or until ended by a signal.
     *
     * @param args the directory, and maxTtl in nanoseconds
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        LocalConfig config = LocalConfig.of(
                Path.of(args[0]), Duration.ofNanos(Long.parseLong(args[1])), Algorithms.standard(), CONNECT);
        HostElection.Hosting hostLock = tryHost(config.directory().election());
        if (hostLock == null) {
            LOG.info("another process hosts {}", config.directory().path());
            return;
        }
        CountDownLatch ended = new CountDownLatch(1);
        LocalHost host = LocalHost.start(config, hostLock, ended::countDown);
        Runtime.getRuntime().addShutdownHook(new Thread(host::close, "keyway-host-signal"));
        while (host.idle() < IDLE.toNanos() && !ended.await(1, TimeUnit.SECONDS)) {
            // asked once a second
        }
        host.close();
    }

    /** A client that looks whether anybody hosts has the lock for a moment; only one that stays is a host's. */
    private static HostElection.@Nullable Hosting tryHost(HostElection election) throws InterruptedException {
        for (int i = 0; i < TRIES; i++) {
            if (election.tryHost() instanceof HostElection.Hosting hostLock) {
                return hostLock;
            }
            TimeUnit.MILLISECONDS.sleep(BETWEEN_TRIES_MILLIS);
        }
        return null;
    }
}
