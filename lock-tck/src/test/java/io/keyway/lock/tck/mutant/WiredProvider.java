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

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            ask(limit);
            return super.attempt(request, limit);
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
