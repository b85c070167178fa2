// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * {@code lock:wired://host:port/defect}: the reference behind sockets. Before a verb of a client is carried out, a byte
 * goes to a server that sends it back, over a connection of a pool; a further connection stands for as long as the
 * client.
 */
public final class WiredProvider extends ReferenceProvider {

    /** What {@code close} leaves open. */
    static final String POOL = "close-leaves-the-pool";

    /** Uses a connection again on which a call ran out of time. */
    static final String STUCK = "stuck";

    /** Looks twice before it takes; no defect. */
    static final String STEPS = "steps";

    /** The same, and slow. */
    static final String SLOW = "slow-steps";

    /** The same as STEPS; a limit of less than a second is never enough. */
    static final String SLOWEST = "slowest-steps";

    /** The same as STEPS, each of which takes half of what is left of a limit of more than 4 s; no defect. */
    static final String LONG = "long-steps";

    /** The same as STEPS, and only the first look ends by an interrupt. */
    static final String DEAF = "deaf-after-the-first-step";

    /** The same as STEPS, and each failure is reported as surely not executed. */
    static final String WRONG = "all-steps-not-executed";

    static final String SUBSCRIPTION = "close-leaves-the-subscription";

    /** As discovery needs it. */
    public WiredProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("wired");
    }

    @Override
    public ProviderInfo info() {
        ProviderInfo sane = super.info();
        return new ProviderInfo("Keyway wired reference", sane.version(), sane.apiLevel(), sane.options());
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.NETWORK;
    }

    @Override
    public LockClient open(OpenRequest request) {
        LockUrl.Host server = request.url().hosts().get(0);
        String defect = request.url().path().orElse("none").replace("/", "");
        ReferenceProvider behind = new ReferenceProvider() {
            @Override
            protected ReferenceBackend backend(LockUrl url, ReferenceWorld world, TimeSource time, String trouble) {
                return new Wired(world, time, features(url), trouble, server, defect);
            }
        };
        return behind.open(new OpenRequest(
                LockUrl.parse("lock:reference://wired-" + defect),
                request.options(),
                request.loader(),
                request.time(),
                request.between()));
    }

    private static final class Wired extends ReferenceBackend {
        /** The collector would close what nobody knows any more. */
        private static final Queue<Wired> CLOSED = new ConcurrentLinkedQueue<>();

        private final LockUrl.Host server;
        private final String defect;
        private final Queue<Socket> idle = new ConcurrentLinkedQueue<>();
        private @Nullable Socket subscription;

        Wired(
                ReferenceWorld world,
                TimeSource time,
                Set<Feature> features,
                String trouble,
                LockUrl.Host server,
                String defect) {
            super(world, time, features, trouble);
            this.server = server;
            this.defect = defect;
        }

        private Socket connect() throws IOException {
            return new Socket(server.name(), server.port().orElseThrow());
        }

        private void ask(Duration limit) throws IOException {
            Socket free = idle.poll();
            Socket socket = free == null ? connect() : free;
            socket.setSoTimeout((int) Math.max(1, limit.toMillis()));
            try {
                socket.getOutputStream().write(1);
                if (socket.getInputStream().read() < 0) {
                    throw new IOException("the connection was closed");
                }
            } catch (IOException e) {
                if (defect.equals(STUCK) && e instanceof SocketTimeoutException) {
                    idle.add(socket);
                } else {
                    socket.close();
                }
                throw e;
            }
            idle.add(socket);
        }

        @Override
        public void start(Signals signals, Incarnation client) throws NotExecutedException {
            try {
                subscription = connect();
            } catch (IOException e) {
                throw new NotExecutedException(String.valueOf(e));
            }
            super.start(signals, client);
        }

        private boolean takesSteps() {
            return defect.endsWith("steps") || defect.equals(DEAF) || defect.equals(WRONG);
        }

        @Override
        public boolean prompt() {
            return takesSteps();
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            if (!takesSteps()) {
                ask(limit);
                return super.attempt(request, limit);
            }
            Deadline deadline = Deadline.after(limit);
            try {
                step(deadline, true);
                step(deadline, !defect.equals(DEAF));
                Attempt result = super.attempt(request, limit);
                step(deadline, !defect.equals(DEAF));
                return result;
            } catch (IOException e) {
                if (defect.equals(WRONG)) {
                    throw new NotExecutedException("no answer", e);
                }
                throw e;
            }
        }

        /** One question, whose read ends soon after an interrupt. */
        private void step(Deadline deadline, boolean hearsInterrupts) throws IOException, InterruptedException {
            // An interrupt ends the pause.
            long slow = switch (defect) {
                case SLOW -> 80;
                case LONG -> deadline.millis() > 4_000 ? deadline.millis() / 2 : 0;
                case SLOWEST -> deadline.millis() < 900 ? 900 : 0;
                default -> 0;
            };
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(slow, deadline.millis())));
            Socket free = idle.poll();
            Socket socket = free == null ? connect() : free;
            boolean whole = false;
            try {
                socket.setSoTimeout(20);
                socket.getOutputStream().write(1);
                while (!whole) {
                    if (hearsInterrupts && Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    if (deadline.nanos() == 0) {
                        throw new SocketTimeoutException("no answer in time");
                    }
                    try {
                        if (socket.getInputStream().read() < 0) {
                            throw new IOException("the connection was closed");
                        }
                        whole = true;
                    } catch (SocketTimeoutException e) {
                        whole = false;
                    }
                }
                idle.add(socket);
            } finally {
                if (!whole) {
                    socket.close();
                }
            }
        }

        @Override
        public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
            ask(limit);
            return super.renew(grants, limit);
        }

        @Override
        public Answer release(Grant grant, Duration limit) throws Exception {
            ask(limit);
            return super.release(grant, limit);
        }

        @Override
        public void withdraw(Request request, Duration limit) throws Exception {
            ask(limit);
            super.withdraw(request, limit);
        }

        @Override
        public void close() {
            super.close();
            CLOSED.add(this);
            try {
                if (subscription != null && !defect.equals(SUBSCRIPTION)) {
                    subscription.close();
                }
                for (Socket socket : defect.equals(POOL) ? List.<Socket>of() : idle) {
                    socket.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
