// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.spi.OpenRequest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The members that this JVM (and class loader) hosts for its own clients ({@code ?member=a:7400}): each from the
 * opening of the first such client until the last one has closed.
 */
public final class HostedMembers {
    /** What has to be equal for two clients to share a member. */
    private record Terms(
            NodeId node,
            String algorithm,
            MemberList members,
            String cluster,
            Path data,
            Duration maxTtl,
            int shards,
            Optional<Integer> leaders,
            Optional<Integer> priority,
            SecuritySettings security,
            long tokenFloor) {}

    private static final class Entry {
        final Terms options;
        int clients;

        @Nullable
        ClusterMember member;

        Entry(Terms options) {
            this.options = options;
        }
    }

    private static final HostedMembers OF_THIS_JVM = new HostedMembers();

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, Entry> entries = new HashMap<>();

    private HostedMembers() {}

    /**
     * Opens a client, and before it the member that its URL tells this process to host, if any. Blocks for that
     * member's disk.
     *
     * @param algorithm of the cluster
     * @param client opens it; is given that member, and what to run once when it has closed
     * @throws InvalidLockUrlException if the member cannot be as the URL says, with what to do
     * @throws LockUnavailableException if its directory or port cannot be used
     */
    public static ClientRuntime open(
            OpenRequest request,
            Algorithm algorithm,
            BiFunction<Optional<ClusterMember>, Runnable, ClientRuntime> client) {
        Optional<String> member = request.find(NativeOptions.MEMBER);
        if (member.isEmpty()) {
            if (request.find(NativeOptions.DATA).isPresent()) {
                throw new InvalidLockUrlException(request.url()
                        + ": data is where a member keeps its file; add member=HOST:PORT, or leave it out");
            }
            if (elects(request)) {
                throw new InvalidLockUrlException(request.url()
                        + ": leaders and priority are of a member; add member=HOST:PORT, or leave them out");
            }
            if (request.find(CommonOptions.TOKEN_FLOOR).isPresent()) {
                throw new InvalidLockUrlException(request.url()
                        + ": the floor of tokens of a cluster is given to its members, since one that is down "
                        + "now must have it when it is back."
                        + " Leave tokenFloor out here, and start each member with keyway member --token-floor, "
                        + "or with tokenFloor in a URL that has member=HOST:PORT");
            }
            return client.apply(Optional.empty(), () -> {});
        }
        LockUrl url = request.url();
        Entry entry;
        try {
            Algorithm configured = elects(request)
                    ? algorithm.electing(
                            number(request.find(NativeOptions.LEADERS)), number(request.find(NativeOptions.PRIORITY)))
                    : algorithm;
            entry = OF_THIS_JVM.join(
                    options(request, algorithm, NodeId.parse(member.get())), configured, Security.of(request));
        } catch (IllegalArgumentException e) {
            throw new InvalidLockUrlException("In " + url + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new LockUnavailableException(
                    "Cannot host member " + member.get() + ": " + e.getMessage(), null, null, e);
        }
        try {
            trace(request, entry.member);
            return client.apply(Optional.ofNullable(entry.member), () -> OF_THIS_JVM.leave(entry));
        } catch (RuntimeException e) {
            OF_THIS_JVM.leave(entry);
            throw e;
        }
    }

    private static boolean elects(OpenRequest request) {
        return request.find(NativeOptions.LEADERS).isPresent()
                || request.find(NativeOptions.PRIORITY).isPresent();
    }

    private static OptionalInt number(Optional<Integer> given) {
        return given.map(OptionalInt::of).orElseGet(OptionalInt::empty);
    }

    private static void trace(OpenRequest request, @Nullable ClusterMember member) {
        Optional<String> directory = request.find(NativeOptions.TRACE);
        if (member != null && directory.isPresent()) {
            try {
                member.startTrace(Path.of(directory.get()));
            } catch (IOException e) {
                throw new LockUnavailableException(
                        "The directory of the option trace cannot be used: " + e, null, null, e);
            }
        }
    }

    private static Terms options(OpenRequest request, Algorithm algorithm, NodeId node) {
        Path data;
        try {
            data = request.find(NativeOptions.DATA)
                    .map(Path::of)
                    .orElseGet(() -> MemberConfig.defaultData(System.getProperty("user.home", ""), node.port()));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("data is not the name of a directory", e);
        }
        return new Terms(
                node,
                algorithm.name(),
                new MemberList(ClusterMode.addresses(request.url())),
                ClusterMode.cluster(request.url()),
                data.toAbsolutePath().normalize(),
                request.get(NativeOptions.MAX_TTL),
                request.get(NativeOptions.SHARDS),
                request.find(NativeOptions.LEADERS),
                request.find(NativeOptions.PRIORITY),
                SecuritySettings.of(request),
                request.find(CommonOptions.TOKEN_FLOOR).orElse(0L));
    }

    private Entry join(Terms options, Algorithm algorithm, Security security) throws IOException {
        lock.lock();
        try {
            Entry entry = entries.get(options.data());
            if (entry == null) {
                Entry made = new Entry(options);
                made.member = ClusterMember.start(config(options, security), algorithm, () -> forget(made));
                entries.put(options.data(), made);
                entry = made;
            } else if (!entry.options.equals(options)) {
                throw new IllegalArgumentException("this JVM hosts member " + entry.options.node()
                        + " in the same directory, for a URL with other members or options; give all of its "
                        + "clients the same");
            }
            entry.clients++;
            return entry;
        } finally {
            lock.unlock();
        }
    }

    private static MemberConfig config(Terms options, Security security) {
        return new MemberConfig(
                options.node(),
                new InetSocketAddress(options.node().host(), options.node().port()),
                options.members(),
                options.cluster(),
                options.data(),
                false,
                Set.of(),
                options.maxTtl(),
                options.shards(),
                security,
                options.tokenFloor(),
                false);
    }

    /** It has ended by itself; the next client that opens starts it again. */
    private void forget(Entry entry) {
        lock.lock();
        try {
            entries.remove(entry.options.data(), entry);
        } finally {
            lock.unlock();
        }
    }

    /** A client has closed; the last one ends the member in order. */
    private void leave(Entry entry) {
        ClusterMember ending = null;
        lock.lock();
        try {
            if (--entry.clients == 0) {
                ending = entry.member;
                entries.remove(entry.options.data(), entry);
            }
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            ending.close();
        }
    }
}
