// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The limit that no lock in another process can pass: what it takes until a thread that waits runs, once another one
 * says so. A round trip is two of these; half of it is told. Once without pauses, and once with pauses, so that the
 * machine is idle.
 */
final class WakeUp {
    private static final long PAUSE_NANOS = Duration.ofMillis(4).toNanos();
    private static final int WARM_UP_SECONDS = 1;

    private final Ground ground;
    private final Duration time;

    /** @param time of each figure */
    WakeUp(Ground ground, Duration time) {
        this.ground = ground;
        this.time = time;
    }

    /** A program that returns each byte that it gets, by the pipes of its standard streams. */
    public static final class Echo {
        private Echo() {}

        /** The entry point. */
        @SuppressWarnings("SystemOut") // the pipe
        public static void main(String[] arguments) throws IOException {
            OutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
            InputStream in = new java.io.FileInputStream(java.io.FileDescriptor.in);
            for (int each = in.read(); each >= 0; each = in.read()) {
                out.write(each);
            }
        }
    }

    private interface RoundTrip {
        void go() throws Exception;
    }

    /** Microseconds, by the way that the word takes. */
    Map<String, Figures> measure() throws Exception {
        Map<String, Figures> results = new LinkedHashMap<>();
        Echoing echo = new Echoing();
        echo.start();
        measure(results, "park/unpark of a thread", echo::call);
        echo.end();

        Process process = ground.process(Program.java(List.of(), Program.classPath(), Echo.class.getName()));
        InputStream answers = process.getInputStream();
        OutputStream orders = process.getOutputStream();
        measure(results, "pipe to a process", () -> {
            orders.write(1);
            orders.flush();
            expect(answers);
        });

        Program server = ground.program(
                "ping", Program.java(List.of(), Program.classPath(), WireServer.class.getName()), Map.of());
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(server.read()))) {
            socket.setTcpNoDelay(true);
            measure(results, "socket to a process", () -> {
                socket.getOutputStream().write(WireServer.PING);
                expect(socket.getInputStream());
            });
        }
        return results;
    }

    private static void expect(InputStream in) throws IOException {
        if (in.read() < 0) {
            throw new EOFException("The other end has gone");
        }
    }

    private void measure(Map<String, Figures> results, String name, RoundTrip way) throws Exception {
        halves(way, Duration.ofSeconds(WARM_UP_SECONDS), 0);
        Histogram busy = halves(way, time, 0);
        results.put(name, new Figures().with(Figures.FIGURE, median(busy)).withLatency(busy));
        Histogram idle = halves(way, time, PAUSE_NANOS);
        results.put(
                name + ", idle",
                new Figures().with(Figures.FIGURE, median(idle)).withLatency(idle));
    }

    private static double median(Histogram nanos) {
        return nanos.getValueAtPercentile(50) / 1e3;
    }

    private static Histogram halves(RoundTrip way, Duration time, long pause) throws Exception {
        Histogram halves = Load.latencies();
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            if (pause > 0) {
                LockSupport.parkNanos(pause);
            }
            long begin = System.nanoTime();
            way.go();
            halves.recordValue((System.nanoTime() - begin) / 2);
        }
        return halves;
    }

    /** A thread that wakes whoever wakes it. */
    private static final class Echoing extends Thread {
        private volatile boolean asked;
        private volatile boolean answered;
        private volatile boolean ended;
        private final Thread caller = Thread.currentThread();

        Echoing() {
            super("echo");
            setDaemon(true);
        }

        /** Each end waits before it looks, so that no word is left over which would spare the next wait. */
        void call() {
            answered = false;
            asked = true;
            LockSupport.unpark(this);
            do {
                LockSupport.park(this);
            } while (!answered);
        }

        void end() {
            ended = true;
            LockSupport.unpark(this);
        }

        @Override
        public void run() {
            while (true) {
                do {
                    LockSupport.park(this);
                } while (!asked && !ended);
                if (ended) {
                    return;
                }
                asked = false;
                answered = true;
                LockSupport.unpark(caller);
            }
        }
    }
}
