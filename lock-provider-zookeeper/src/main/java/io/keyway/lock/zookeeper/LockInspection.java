// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.NotExecutedException;
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

/** Looks at lines, for people, and breaks grants. */
final class LockInspection {
    /** Questions sent together. */
    private static final int AT_ONCE = 64;

    private final Paths paths;

    LockInspection(Paths paths) {
        this.paths = paths;
    }

    Optional<LockStatus> show(Session session, LockKey key, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<Long> floor = session.tokenFloor(paths.tokenFloor());
        CompletableFuture<List<String>> names = session.children(container, null);
        limit.await(synced);
        return status(session, key, names, limit.await(floor), limit);
    }

    private Optional<LockStatus> status(
            Session session, LockKey key, CompletableFuture<List<String>> names, long floor, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        RequestQueue line = line(names, limit);
        if (line.isEmpty()) {
            return Optional.empty();
        }
        String container = paths.container(key);
        long now = session.ensembleMillis(paths.base(), limit);
        List<Seen> holders = read(session, container, line.holders(), limit);
        List<Seen> waiters = read(session, container, line.waiters(), limit);
        return holders.isEmpty() && waiters.isEmpty()
                ? Optional.empty()
                : Optional.of(new LockStatus(
                        key,
                        holders.stream().map(seen -> seen.holder(now, floor)).toList(),
                        waiters.stream().map(seen -> seen.waiter(now)).toList()));
    }

    private static RequestQueue line(CompletableFuture<List<String>> names, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return RequestQueue.of(limit.await(names));
        } catch (NoNodeException e) {
            return RequestQueue.of(List.of());
        }
    }

    private record Seen(NodeName ticket, NodeData note, RequestNodeData content) {

        Duration since(long now) {
            return Duration.ofMillis(Math.max(0, now - content.stat().getCtime()));
        }

        LockStatus.Holder holder(long now, long floor) {
            return new LockStatus.Holder(
                    note.owner().client(),
                    ticket.mode(),
                    ticket.permits(),
                    OptionalLong.of(content.stat().getCzxid() + floor),
                    since(now),
                    note.owner().metadata());
        }

        LockStatus.Waiter waiter(long now) {
            return new LockStatus.Waiter(
                    note.owner().client(),
                    ticket.mode(),
                    ticket.permits(),
                    OptionalLong.empty(),
                    since(now),
                    note.owner().metadata());
        }
    }

    /** Reads those nodes; without those that have left meanwhile. */
    private static List<Seen> read(Session session, String container, List<NodeName> tickets, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        List<Seen> seen = new ArrayList<>();
        for (int from = 0; from < tickets.size(); from += AT_ONCE) {
            List<NodeName> some = tickets.subList(from, Math.min(tickets.size(), from + AT_ONCE));
            List<CompletableFuture<RequestNodeData>> asked = new ArrayList<>();
            for (NodeName ticket : some) {
                asked.add(session.content(container + "/" + ticket.name()));
            }
            for (int i = 0; i < some.size(); i++) {
                try {
                    RequestNodeData content = limit.await(asked.get(i));
                    seen.add(new Seen(some.get(i), content.note(), content));
                } catch (NoNodeException e) {
                    // It has left.
                }
            }
        }
        return seen;
    }

    /**
     * One page, in the order of the buckets; the cursor is the last element that was looked at. Containers that nobody is in
     * are passed over.
     */
    LockPage list(Session session, String prefix, Optional<String> after, int max, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        limit.await(session.sync(paths.base()));
        long floor = limit.await(session.tokenFloor(paths.tokenFloor()));
        Cursor cursor = Cursor.after(after);
        List<LockStatus> found = new ArrayList<>();
        for (List<String> buckets : chunks(sorted(session.children(paths.base(), null), limit).stream()
                .filter(cursor::includesBucket)
                .toList())) {
            List<CompletableFuture<List<String>>> asked = new ArrayList<>();
            for (String bucket : buckets) {
                asked.add(session.children(paths.bucket(bucket), null));
            }
            for (CompletableFuture<List<String>> elements : asked) {
                List<String> wanted = sorted(elements, limit).stream()
                        .filter(element -> cursor.includes(element) && isWanted(element, prefix))
                        .toList();
                for (List<String> some : chunks(wanted)) {
                    Optional<String> full = look(session, some, max, found, floor, limit);
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
            Session session, List<String> elements, int max, List<LockStatus> found, long floor, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        List<CompletableFuture<List<String>>> lines = new ArrayList<>();
        for (String element : elements) {
            lines.add(session.children(paths.bucket(Paths.bucketOf(element)) + "/" + element, null));
        }
        for (int i = 0; i < elements.size(); i++) {
            LockKey key = Paths.key(elements.get(i)).orElseThrow();
            status(session, key, lines.get(i), floor, limit).ifPresent(found::add);
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

    private static List<String> sorted(CompletableFuture<List<String>> names, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        try {
            return limit.await(names).stream().sorted().toList();
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
     * Tells the holder's session that the grant is broken. Its place is kept until its client has deleted it, or until the
     * session is over: nobody is granted while it believes.
     */
    boolean breakGrant(Session session, LockKey key, long token, String reason, Await limit)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        while (true) {
            CompletableFuture<Boolean> synced = session.sync(container);
            CompletableFuture<Long> floor = session.tokenFloor(paths.tokenFloor());
            CompletableFuture<List<String>> names = session.children(container, null);
            limit.await(synced);
            long czxid = token - limit.await(floor);
            Optional<Seen> holder = read(session, container, line(names, limit).holders(), limit).stream()
                    .filter(seen -> seen.content.stat().getCzxid() == czxid)
                    .findFirst();
            if (holder.isEmpty()) {
                return false;
            }
            NodeName ticket = holder.get().ticket;
            String owner = Session.id(holder.get().content.stat().getEphemeralOwner());
            String told = paths.session(owner);
            BrokenGrants before;
            try {
                before = limit.await(
                        session.read(told, null, (data, stat) -> BrokenGrants.parse(data, stat.getVersion())));
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
            List<KeeperException.Code> codes = limit.await(session.transact(
                    List.of(Op.check(container + "/" + ticket.name(), -1), Op.setData(told, after, before.version()))));
            if (codes.stream().allMatch(code -> code == KeeperException.Code.OK)) {
                return true;
            }
            // It has left, or something was said to it since that was read: look again.
        }
    }

    int availablePermits(Session session, LockKey key, int capacity, Await limit)
            throws KeeperException, TimeoutException, InterruptedException {
        String container = paths.container(key);
        CompletableFuture<Boolean> synced = session.sync(container);
        CompletableFuture<List<String>> names = session.children(container, null);
        limit.await(synced);
        return Math.max(0, capacity - line(names, limit).permitsOut());
    }
}
