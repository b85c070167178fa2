// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static io.keyway.lock.zookeeper.EnsembleCalls.await;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Delays;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.zookeeper.BreakMailbox.BrokenGrants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;

/** Shows the queues of locks, for people, and breaks grants. */
final class LockInspection {
    /** How many questions are sent together. */
    private static final int AT_ONCE = 64;

    private final Paths paths;

    LockInspection(Paths paths) {
        this.paths = paths;
    }

    Optional<LockStatus> show(Session session, LockKey key, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<StoredFloor> floor = StoredFloor.read(session, paths.tokenFloor());
        CompletableFuture<EnsembleCalls.Listing> names = session.listing(container, null);
        await(synced, deadline);
        return status(session, key, names, await(floor, deadline).floor(), deadline);
    }

    /**
     * As {@link io.keyway.lock.spi.ChangeHints#change}, by a watch of the children of the lock's container: each
     * request is one. It fails while nobody has used the lock of late, and there is no container.
     */
    CompletableFuture<Long> change(Session session, LockKey key, long known, Duration limit) {
        String container = paths.container(key);
        CompletableFuture<Long> told = new CompletableFuture<>();
        Watcher changed = event -> tell(session.listing(container, null), 0, told);
        tell(session.watches().listing(container, changed), known, told);
        TimeSource.Scheduled end = Delays.after(limit.toNanos(), () -> told.complete(known));
        CompletableFuture<Long> unused = told.whenComplete((version, failure) -> {
            end.cancel();
            session.watches().forget(container, changed);
        });
        return told;
    }

    /** Tells the version of what was found, or why nothing was, unless it is the one that is known. */
    private static void tell(CompletableFuture<EnsembleCalls.Listing> found, long known, CompletableFuture<Long> told) {
        CompletableFuture<EnsembleCalls.Listing> unused = found.whenComplete((listing, failure) -> {
            if (failure != null) {
                told.completeExceptionally(failure);
            } else if (listing.node().getPzxid() != known) {
                told.complete(listing.node().getPzxid());
            }
        });
    }

    private Optional<LockStatus> status(
            Session session, LockKey key, CompletableFuture<EnsembleCalls.Listing> asked, long floor, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        EnsembleCalls.Listing listing;
        try {
            listing = await(asked, deadline);
        } catch (NoNodeException e) {
            return Optional.empty();
        }
        RequestQueue queue = RequestQueue.of(listing.names());
        if (queue.isEmpty()) {
            return Optional.empty();
        }
        String container = paths.container(key);
        long now = session.ensembleMillis(paths.base(), deadline);
        List<Seen> holders = read(session, container, queue.holders(), deadline);
        List<Seen> waiters = read(session, container, queue.waiters(), deadline);
        List<Seen> softWriters = read(session, container, queue.softWriters(), deadline);
        return holders.isEmpty() && waiters.isEmpty() && softWriters.isEmpty()
                ? Optional.empty()
                : Optional.of(new LockStatus(
                        key,
                        holders.stream().map(seen -> seen.holder(now, floor)).toList(),
                        waiters.stream().map(seen -> seen.waiter(now)).toList(),
                        List.of(),
                        softWriters.stream()
                                .map(seen -> seen.softWriter(now, listing.node().getMtime()))
                                .toList()));
    }

    private static RequestQueue queue(CompletableFuture<List<String>> names, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return RequestQueue.of(await(names, deadline));
        } catch (NoNodeException e) {
            return RequestQueue.of(List.of());
        }
    }

    /** A request as its node shows it. */
    private record Seen(NodeName request, NodeData data, Stat stat) {

        Duration since(long now) {
            return Duration.ofMillis(Math.max(0, now - asked()));
        }

        private long asked() {
            return data.since() > 0 ? data.since() : stat.getCtime();
        }

        LockStatus.Holder holder(long now, long floor) {
            return new LockStatus.Holder(
                    data.owner().client(),
                    request.mode(),
                    request.permits(),
                    OptionalLong.of(stat.getCzxid() + floor),
                    since(now),
                    data.owner().metadata());
        }

        LockStatus.Waiter waiter(long now) {
            return waiter(since(now));
        }

        /** {@code read}: when the last reader said that it was granted, if any did. */
        LockStatus.Waiter softWriter(long now, long read) {
            return waiter(
                    request.wantsQuiet() ? Duration.ofMillis(Math.max(0, now - Math.max(read, asked()))) : since(now));
        }

        private LockStatus.Waiter waiter(Duration since) {
            return new LockStatus.Waiter(
                    data.owner().client(),
                    request.mode(),
                    request.permits(),
                    OptionalLong.empty(),
                    since,
                    data.owner().metadata());
        }
    }

    /** Reads those nodes; without those that have left meanwhile. */
    private static List<Seen> read(Session session, String container, List<NodeName> requests, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        List<Seen> seen = new ArrayList<>();
        for (int from = 0; from < requests.size(); from += AT_ONCE) {
            List<CompletableFuture<Seen>> asked = new ArrayList<>();
            for (NodeName request : requests.subList(from, Math.min(requests.size(), from + AT_ONCE))) {
                asked.add(session.read(
                        container + "/" + request.name(),
                        null,
                        (data, stat) -> new Seen(request, NodeData.parse(data), stat)));
            }
            for (CompletableFuture<Seen> each : asked) {
                try {
                    seen.add(await(each, deadline));
                } catch (NoNodeException e) {
                    // It has left.
                }
            }
        }
        return seen;
    }

    /**
     * One page, in the order of the buckets; the cursor is the last element that was looked at. Containers that nobody
     * is in are passed over.
     */
    LockPage list(Session session, String prefix, Optional<String> after, int max, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        await(session.sync(paths.base()), deadline);
        long floor =
                await(StoredFloor.read(session, paths.tokenFloor()), deadline).floor();
        Cursor cursor = Cursor.after(after);
        List<LockStatus> found = new ArrayList<>();
        for (List<String> buckets : chunks(sorted(session.children(paths.base(), null), deadline).stream()
                .filter(cursor::includesBucket)
                .toList())) {
            List<CompletableFuture<List<String>>> asked = new ArrayList<>();
            for (String bucket : buckets) {
                asked.add(session.children(paths.bucket(bucket), null));
            }
            for (CompletableFuture<List<String>> elements : asked) {
                List<String> wanted = sorted(elements, deadline).stream()
                        .filter(element -> cursor.includes(element) && isWanted(element, prefix))
                        .toList();
                for (List<String> some : chunks(wanted)) {
                    Optional<String> full = look(session, some, max, found, floor, deadline);
                    if (full.isPresent()) {
                        return new LockPage(found, full);
                    }
                }
            }
        }
        return new LockPage(found, Optional.empty());
    }

    /** Adds those of the elements that somebody is in; the last one looked at once there are enough. */
    private Optional<String> look(
            Session session, List<String> elements, int max, List<LockStatus> found, long floor, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        List<CompletableFuture<EnsembleCalls.Listing>> queues = new ArrayList<>();
        for (String element : elements) {
            queues.add(session.listing(paths.bucket(Paths.bucketOf(element)) + "/" + element, null));
        }
        for (int i = 0; i < elements.size(); i++) {
            LockKey key = Paths.key(elements.get(i)).orElseThrow();
            status(session, key, queues.get(i), floor, deadline).ifPresent(found::add);
            if (found.size() >= max) {
                return Optional.of(elements.get(i));
            }
        }
        return Optional.empty();
    }

    private static boolean isWanted(String element, String prefix) {
        return Paths.key(element)
                .filter(key -> key.name().value().startsWith(prefix))
                .isPresent();
    }

    private static List<String> sorted(CompletableFuture<List<String>> names, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return await(names, deadline).stream().sorted().toList();
        } catch (NoNodeException e) {
            return List.of();
        }
    }

    private static List<List<String>> chunks(List<String> all) {
        List<List<String>> chunks = new ArrayList<>();
        for (int from = 0; from < all.size(); from += AT_ONCE) {
            chunks.add(all.subList(from, Math.min(all.size(), from + AT_ONCE)));
        }
        return chunks;
    }

    private record Cursor(String bucket, String element) {

        static Cursor after(Optional<String> last) {
            return last.map(element -> new Cursor(Paths.bucketOf(element), element))
                    .orElse(new Cursor(Paths.FIRST_BUCKET, ""));
        }

        boolean includesBucket(String other) {
            return Paths.isBucket(other) && other.compareTo(bucket) >= 0;
        }

        boolean includes(String other) {
            return !Paths.bucketOf(other).equals(bucket) || other.compareTo(element) > 0;
        }
    }

    /**
     * Tells the holder's session that the grant is broken. The node of the grant stays until the holder's client has
     * deleted it, or until the session is over: nobody is granted while the holder believes.
     */
    boolean breakGrant(Session session, LockKey key, long token, String reason, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        while (true) {
            CompletableFuture<Boolean> synced = session.sync(container);
            CompletableFuture<StoredFloor> floor = StoredFloor.read(session, paths.tokenFloor());
            CompletableFuture<List<String>> names = session.children(container, null);
            await(synced, deadline);
            long czxid = token - await(floor, deadline).floor();
            Optional<Seen> holder = read(
                            session, container, queue(names, deadline).holders(), deadline)
                    .stream()
                    .filter(seen -> seen.stat.getCzxid() == czxid)
                    .findFirst();
            if (holder.isEmpty()) {
                return false;
            }
            NodeName request = holder.get().request;
            String owner = Session.id(holder.get().stat.getEphemeralOwner());
            String mailbox = paths.session(owner);
            BrokenGrants before;
            try {
                before = await(
                        session.read(mailbox, null, (data, stat) -> BrokenGrants.parse(data, stat.getVersion())),
                        deadline);
            } catch (NoNodeException e) {
                throw new NotExecutedException(
                        "the session of the holder, " + owner + ", is about to begin or to end", e);
            }
            if (before.reasons().containsKey(czxid)) {
                return false;
            }
            byte[] after = before.with(czxid, reason).bytes();
            if (after.length > BrokenGrants.MAX_BYTES) {
                throw new NotExecutedException(
                        "the holder has not heard of " + before.reasons().size() + " earlier breaks of what it holds");
            }
            List<KeeperException.Code> codes = await(
                    session.transact(List.of(
                            Op.check(container + "/" + request.name(), -1),
                            Op.setData(mailbox, after, before.version()))),
                    deadline);
            if (codes.stream().allMatch(code -> code == KeeperException.Code.OK)) {
                return true;
            }
            // It has left, or something was said to it since that was read: look again.
        }
    }

    int availablePermits(Session session, LockKey key, int capacity, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<List<String>> names = session.children(container, null);
        await(synced, deadline);
        return Math.max(0, capacity - queue(names, deadline).permitsOut());
    }
}
