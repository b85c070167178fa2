// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.zookeeper.QueuePosition.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The life of one request in one session: its ephemeral sequential node in the container of its lock, the node's
 * position in the queue, and how its turn comes; after the lock recipe of ZooKeeper. A request whose session ends
 * begins a new life in the next one.
 *
 * <p><b>States.</b> Of the node: see {@link OwnNode}. When it is there the request has a {@link QueuePosition}: it
 * holds, waits behind a predecessor, is the first that waits for permits, or yields as a soft writer.
 *
 * <p>Of the grant: {@code held} from the moment at which it is handed out, by the answer to an attempt or by
 * {@link LockBackend.Signals#granted}, until it is released, withdrawn or lost; {@code broken} once its owner was told
 * so.
 *
 * <p><b>Messages.</b> The verbs {@link #attempt}, {@link #release} and {@link #withdraw}; what the one watch of a
 * waiter says ({@link NodeWatch}), which is followed up on the thread of the session's events, without a wait; the
 * deletion of a node that is held; and what befalls the session ({@link #breakGrant}, {@link #ended},
 * {@link #leaveTo}).
 *
 * <p>A waiter for permits whose turn has come though others wait before it, and one that such a one has passed, is
 * <em>promoted</em>: one transaction deletes its node and creates another that says that it holds ({@link #promote}).
 * Its number and its token are those of that node. The transaction also changes the container's data, so that nobody
 * else is promoted by an older listing, and so that whoever was created before it knows that its own token is too low
 * by now. A soft writer is promoted when it sees nobody that holds or queues and its {@link QuietTime} has passed; if
 * somebody came meanwhile its new node yields as the old one did, and it looks again.
 *
 * <p><b>What an attempt costs.</b> A creation and a listing, sent together and answered in one round trip, or a
 * creation alone if its number says that the node is the first ({@link Container}). A release is a deletion.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>An attempt and a withdrawal are made one after the other ({@link #begin}); the node changes under that lock
 *       only.
 *   <li>What is granted was confirmed by a majority: by the creation of the node, or by a transaction that changes
 *       nothing, in the last quarter of the session timeout. Listings, which one server answers by itself, only tell
 *       whom a request has to wait for: a node that was once seen to be deleted never comes back.
 *   <li>Nothing is granted before the session's mailbox stands, by which it could be broken, and after which the
 *       floor of tokens does not change.
 *   <li>A waiter watches one node. {@code watch} counts what was watched: an answer or event of an earlier watch says
 *       nothing.
 *   <li>Signals are sent, and watchers called, outside of the monitors.
 * </ul>
 */
final class RequestNode {
    final Request request;
    final Session session;
    private final String containerPath;
    private final OwnNode node;
    private final Containers containers;
    private final LockBackend.Signals signals;
    private final ReentrantLock verb = new ReentrantLock();

    /** Null unless it is a soft writer that waits for a time without readers. */
    private final @Nullable QuietTime quiet;

    /** Null unless it is a reader. */
    private final @Nullable ReaderNotice notice;

    /** The parent of its node; null before the first attempt. */
    private volatile @Nullable Container container;

    private volatile Container.Creation how = Container.Creation.UNANCHORED;

    /** The node was created, and the queue has not been looked at since. */
    private boolean entered;

    private volatile QueuePosition position = QueuePosition.ABSENT;

    /** What is watched is not known: list the queue anew. */
    private volatile boolean stale = true;

    /** When the position was last known ({@link System#nanoTime}). */
    private volatile long seenAt;

    /** Counts what is watched. */
    private int watch;

    /** Ends what is watched. */
    private Runnable unwatch = () -> {};

    /** Those behind it may believe that it waits, and have not been told otherwise. */
    private volatile boolean waited;

    private volatile boolean everWaited;
    private volatile boolean held;
    private volatile boolean broken;

    /** Whether the deletion of the node is watched while it is held. */
    private volatile boolean watched;

    /** What is added to the number of a transaction to make a token; negative until the first grant. */
    private long floor = -1;

    private boolean gone;

    /** {@code data}: what its node is to hold; not changed any more. */
    RequestNode(
            Request request,
            Session session,
            String containerPath,
            byte[] data,
            Containers containers,
            LockBackend.Signals signals) {
        this.request = request;
        this.session = session;
        this.containerPath = containerPath;
        this.node = new OwnNode(request, session, containerPath, data);
        this.containers = containers;
        this.signals = signals;
        Duration time = request.quiet().orElse(Duration.ZERO);
        this.quiet = time.isZero() ? null : new QuietTime(session::watches, containerPath, time, System::nanoTime);
        this.notice = request.mode() == LockMode.SHARED ? new ReaderNotice(session, containerPath) : null;
    }

    /** Waits until no other attempt or withdrawal is under way; to be ended by {@link #end}. */
    void begin(Deadline deadline) throws TimeoutException, InterruptedException {
        if (!verb.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("another call for request " + request.id() + " was under way all the time");
        }
    }

    void end() {
        verb.unlock();
    }

    /** Whether that transaction has created its node. */
    boolean isCreatedBy(long czxid) {
        CreateResult own = node.get();
        return own != null && own.getStat().getCzxid() == czxid;
    }

    /** The path of its node, if there is one. */
    Optional<String> path() {
        return Optional.ofNullable(node.get()).map(CreateResult::getPath);
    }

    QueuePosition position() {
        return position;
    }

    /** The parent of its node; null before the first attempt. */
    @Nullable
    Container container() {
        return container;
    }

    /** Whether it has left by itself, since it did not queue: nothing of it is at the ensemble. */
    boolean isGone() {
        return gone;
    }

    // The attempt.

    /**
     * Creates the node if there is none, finds out where it is in the queue, and watches its predecessor; between
     * {@link #begin} and {@link #end}.
     *
     * @param calledAt when the verb was called ({@link System#nanoTime})
     */
    Attempt attempt(long calledAt, Deadline deadline) throws Exception {
        CompletableFuture<?> mailbox = session.breaks().begin();
        while (true) {
            if (node.get() != null && session.isOld(seenAt, 1)) {
                checkPredecessor(deadline);
            }
            // Nobody tells a soft writer that its time has passed.
            if (node.get() == null || stale || position.isUntold()) {
                Optional<EnsembleCalls.Listing> listing = enter(deadline);
                if (isBeyondNumbers()) {
                    throw beyondNumbers(deadline);
                }
                listing.ifPresent(this::look);
            }
            CreateResult own = node.get();
            QueuePosition seen = position;
            if (own == null || seen.kind() == Kind.ABSENT) {
                // Somebody has deleted it: the request begins anew, behind the others.
                lost();
                beginAnew();
                continue;
            }
            boolean granted = seen.kind() == Kind.GRANTED;
            if (!mailbox.isDone() || mailbox.isCompletedExceptionally()) {
                awaitMailbox(deadline);
                mailbox = session.breaks().begin();
            }
            if (seen.kind() == Kind.PASSES) {
                promote(own, deadline);
                continue;
            }
            if (!granted && !request.queue()) {
                leave(deadline);
                gone = true;
                return waiting(seen);
            }
            if ((held || session.isOld(session.confirmedAt(), granted ? 4 : 8)) && !isConfirmed(own, deadline)) {
                continue;
            }
            if (!granted) {
                return waiting(seen);
            }
            if (session.breaks().isBroken(own.getStat().getCzxid(), deadline)) {
                // Once the kit has released it the request begins anew, behind the others.
                return new Attempt.Waiting(recheckWithin(), OptionalInt.empty(), List.of(), Optional.of(grant(own)));
            }
            return granted(own, calledAt);
        }
    }

    /**
     * Creates the node if there is none yet, and lists the queue, in one round trip. If the answer to the creation was
     * lost it looks first whether the node is there. If its number alone says that it is the first there is no listing.
     * A container that is missing is made.
     *
     * @return empty if the number says where it is
     */
    Optional<EnsembleCalls.Listing> enter(Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        Container in = container;
        if (in == null) {
            in = containers.entering(containerPath, session);
            container = in;
        }
        while (true) {
            try {
                return enter(in, deadline);
            } catch (KeeperException.NoNodeException e) {
                lost();
                // Numbers begin anew.
                in = containers.enteringAnew(in);
                container = in;
                containers.make(session, containerPath, deadline);
            }
        }
    }

    private Optional<EnsembleCalls.Listing> enter(Container in, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        node.resolve(deadline);
        if (node.isNone()) {
            entered = true;
            how = in.send(node::create);
            if (how == Container.Creation.ALONE) {
                settle(in, deadline);
                if (in.knowsFirst(node.number())) {
                    entered = false;
                    positionIs(QueuePosition.FIRST);
                    return Optional.empty();
                }
            }
        }
        CompletableFuture<EnsembleCalls.Listing> asked = session.listing(containerPath, null);
        EnsembleCalls.Listing listing = null;
        KeeperException failure = null;
        try {
            // It is answered last, so that the thread is woken once.
            listing = EnsembleCalls.await(asked, deadline);
        } catch (KeeperException e) {
            failure = e;
        }
        settle(in, deadline);
        if (failure != null) {
            throw failure;
        }
        return Optional.ofNullable(listing);
    }

    private void settle(Container in, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        node.settle(deadline);
        in.created(node.number());
    }

    /**
     * Puts a node that says that it holds in the place of its own, if a new listing says that it may; else the listing
     * says for whom it waits. An answer that is lost is that of a creation: the node is looked for.
     */
    private void promote(CreateResult own, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        EnsembleCalls.Listing listing = EnsembleCalls.await(session.listing(containerPath, null), deadline);
        String ownName = NodeName.name(own.getPath());
        RequestQueue.Promotion promotion =
                RequestQueue.of(listing.names()).promotion(ownName).orElse(null);
        if (promotion == null || request.isSoft()) {
            look(listing);
        }
        if (promotion == null || position.kind() != Kind.PASSES) {
            return;
        }
        List<Op> steps = new ArrayList<>();
        promotion.present().forEach(each -> steps.add(Op.check(containerPath + "/" + each, -1)));
        if (request.mode() == LockMode.PERMITS) {
            // Who is granted by the order of the numbers is so whatever others do.
            int unchanged = promotion.present().isEmpty() ? -1 : listing.node().getVersion();
            steps.add(Op.setData(containerPath, new byte[0], unchanged));
        }
        CompletableFuture<Optional<String>> sent = node.promote(own, promotion.from(), steps);
        lost();
        if (node.promoted(own, sent, deadline)) {
            Container in = container;
            if (in != null) {
                in.created(node.number());
            }
            if (request.isSoft() && node.number() != promotion.from()) {
                // Somebody came meanwhile: the queue is listed anew.
                return;
            }
            positionIs(QueuePosition.PROMOTED);
            // The deletion of its node has told those behind it.
            waited = false;
        }
    }

    /** Nobody may be granted anything with its number. */
    private boolean isBeyondNumbers() {
        int number = node.number();
        return number > Container.LAST || number < 0;
    }

    /** Leaves, so that the container can be deleted and made anew. */
    private NotExecutedException beyondNumbers(Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        leave(deadline);
        lost();
        CompletableFuture<Boolean> unused = session.delete(containerPath);
        return new NotExecutedException("the numbers of " + containerPath + " are at their end, after " + Container.LAST
                + " requests without a pause; it is made anew as soon as nobody holds or waits there");
    }

    /** Nothing is granted that could not be broken. */
    private void awaitMailbox(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        try {
            session.breaks().await(deadline);
        } catch (KeeperException.NoNodeException e) {
            containers.makeForMailboxes(session, deadline);
            session.breaks().await(deadline);
        }
    }

    /** Has a majority confirm the node; false if it is not there any more, and the request begins anew. */
    private boolean isConfirmed(CreateResult own, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        List<KeeperException.Code> codes =
                EnsembleCalls.await(session.transact(List.of(Op.check(own.getPath(), -1))), deadline);
        if (codes.get(0) == KeeperException.Code.NONODE) {
            lost();
            beginAnew();
            return false;
        }
        return true;
    }

    private Attempt.Granted granted(CreateResult own, long calledAt) throws NotExecutedException {
        handOut();
        if (session.isOver()) {
            // Its end was told before there was anything to lose by it.
            throw new NotExecutedException("the session ended, and with it what was granted in it");
        }
        long age = calledAt - session.confirmedAt();
        return new Attempt.Granted(grant(own), Duration.ofNanos(Math.max(0, age)));
    }

    private Attempt waiting(QueuePosition seen) {
        Duration within = recheckWithin();
        QuietTime time = quiet;
        if (time != null && seen.behind().isEmpty()) {
            // The kit asks after three quarters of it at the earliest.
            Duration left = time.left().multipliedBy(4).dividedBy(3).plusMillis(1);
            within = left.compareTo(within) < 0 ? left : within;
        }
        return new Attempt.Waiting(within, seen.ahead(), List.of());
    }

    private Duration recheckWithin() {
        return Duration.ofMillis(session.timeout().toMillis() / 4);
    }

    private Grant grant(CreateResult own) {
        return new Grant(request.id(), request.key(), token(own), session.timeout(), own.getPath());
    }

    /** The token of a grant by that node: the same for as long as the node is there. */
    private synchronized long token(CreateResult own) {
        if (floor < 0) {
            floor = session.breaks().tokenFloor();
        }
        return Math.addExact(own.getStat().getCzxid(), floor);
    }

    /** The number of the transaction of which that is the token. */
    synchronized long czxid(Grant grant) {
        return grant.token() - Math.max(0, floor);
    }

    private synchronized void forgetFloor() {
        floor = -1;
    }

    private void handOut() {
        held = true;
        if (notice != null) {
            notice.give();
        }
        boolean untold = waited;
        waited = false;
        if (untold) {
            announce();
        }
    }

    /** Tells those behind it that it waits no more; they look at permits anew. */
    private void announce() {
        CreateResult own = node.get();
        if (own != null && request.mode() == LockMode.PERMITS && position.followed()) {
            CompletableFuture<Stat> unused = session.set(
                    own.getPath(), NodeData.of(request.owner()).asGranted().bytes(), -1);
        }
    }

    /** The node is not there: the request has no position, and what it watched says nothing of its next node. */
    void lost() {
        forgetFloor();
        stopWatching();
        position = QueuePosition.ABSENT;
        stale = true;
        node.lost();
        held = false;
        broken = false;
        watched = false;
    }

    /** Somebody has deleted its node: others may have come and gone that could not know of it. */
    private void beginAnew() {
        if (quiet != null) {
            quiet.anew();
        }
        if (notice != null) {
            notice.anew();
        }
    }

    // The position, and the one watch of a waiter.

    /** Takes the listing of an attempt. */
    void look(EnsembleCalls.Listing listing) {
        boolean wantsQuiet = false;
        if (request.mode() != LockMode.PERMITS && !request.isSoft() && node.isAllOf(listing.names())) {
            // Whoever is alone needs no rules.
            positionIs(QueuePosition.FIRST);
        } else {
            RequestQueue queue = RequestQueue.of(listing.names());
            boolean unused = look(listing, queue, 0, false);
            wantsQuiet = queue.wantsQuiet();
        }
        Container in = container;
        if (in != null) {
            in.wantsQuiet(wantsQuiet);
        }
        boolean first = position.isFirst();
        if (in != null && entered && (first || request.queue())) {
            in.listed(node.number(), how, first);
        }
        entered = false;
    }

    /**
     * Takes a listing, and watches what it says is to be watched. True if the turn has come or depends on the time, or
     * somebody deleted the node.
     *
     * @param asOf the count of what was watched when the listing was asked for, without which it says nothing; 0 for an
     *     attempt's own
     * @param watchesQueue whether a watch of the whole queue came with it
     */
    private boolean look(EnsembleCalls.Listing listing, RequestQueue queue, int asOf, boolean watchesQueue) {
        QueuePosition seen;
        int count;
        synchronized (this) {
            if (asOf != 0 && asOf != watch) {
                return false;
            }
            CreateResult own = node.get();
            seen = own == null ? QueuePosition.ABSENT : queue.of(NodeName.name(own.getPath()));
            if (notice != null) {
                notice.look(queue);
            }
            if (own != null && quiet != null && seen.kind() != Kind.GRANTED) {
                seen = quiet.look(queue, node.number(), listing.node(), seen);
            }
            boolean wasGranted = position.kind() == Kind.GRANTED;
            if (own != null && seen.kind() == Kind.GRANTED && !wasGranted && !held && isPassed(own, listing.node())) {
                seen = seen.toBePromoted();
            }
            Runnable ofTheQueue = unwatch;
            if (watchesQueue) {
                unwatch = () -> {};
            }
            count = positionIs(seen);
            if (watchesQueue) {
                // It still watches what it was told of.
                watch = asOf;
                count = asOf;
                unwatch = ofTheQueue;
            }
            if (seen.kind() == Kind.GRANTED) {
                return !wasGranted;
            }
        }
        if (seen.kind() == Kind.ABSENT || seen.kind() == Kind.PASSES) {
            return true;
        }
        if (!request.queue()) {
            return false;
        }
        if (quiet != null) {
            quiet.watch();
        }
        if (seen.behind().isPresent()) {
            watchPredecessor(seen.behind().get(), seen.then(), count);
        } else if (!seen.isUntold() && !watchesQueue) {
            listAndWatchQueue();
        }
        // The kit has to know how much of its time is left.
        return seen.isUntold();
    }

    /** Whether somebody was promoted after the node was created, and may have a higher token. */
    private boolean isPassed(CreateResult own, Stat containerNow) {
        return request.mode() == LockMode.PERMITS
                && containerNow.getMzxid() > own.getStat().getCzxid()
                && !NodeName.parse(NodeName.name(own.getPath()))
                        .map(NodeName::isPromoted)
                        .orElse(false);
    }

    /** The position is known; returns the count of what is to be watched next. */
    private synchronized int positionIs(QueuePosition seen) {
        position = seen;
        seenAt = System.nanoTime();
        stale = false;
        boolean waits = seen.kind() != Kind.GRANTED;
        // Those behind it may have seen it wait, though it has not seen that itself.
        waited |= waits || (request.mode() == LockMode.PERMITS && seen.followed());
        everWaited |= waits;
        return nextWatch();
    }

    private synchronized int nextWatch() {
        unwatch.run();
        unwatch = () -> {};
        return ++watch;
    }

    private void stopWatching() {
        int unused = nextWatch();
        if (quiet != null) {
            quiet.stop();
        }
    }

    /** What is watched by that count can be ended so. */
    private synchronized void watches(int count, Runnable end) {
        if (count == watch) {
            unwatch = end;
        } else {
            end.run();
        }
    }

    private void watchPredecessor(String predecessor, QueuePosition.Knowledge then, int count) {
        NodeWatch ahead = new NodeWatch(session, containerPath + "/" + predecessor, then, new NodeWatch.Listener() {
            @Override
            public void left(boolean nobody) {
                follow(nobody, count);
            }

            @Override
            public void failed() {
                watchFailed();
            }
        });
        watches(count, ahead::stop);
        if (request.mode() == LockMode.PERMITS) {
            ahead.watchPermits();
        } else {
            ahead.watch();
        }
    }

    private void listAndWatchQueue() {
        int count = nextWatch();
        Watcher watcher = event -> follow(false, count);
        watches(count, () -> session.watches().forget(containerPath, watcher));
        list(watcher, count);
    }

    private void list(@Nullable Watcher watcher, int count) {
        CompletableFuture<EnsembleCalls.Listing> asked = watcher == null
                ? session.listing(containerPath, null)
                : session.watches().listing(containerPath, watcher);
        CompletableFuture<EnsembleCalls.Listing> unused = asked.whenComplete((listing, failure) -> {
            if (failure != null) {
                watchFailed();
            } else if (look(listing, RequestQueue.of(listing.names()), count, watcher != null)) {
                turnHasCome();
            }
        });
    }

    /** What is watched by that count has left or changed. {@code granted}: nobody is in the way any more. */
    private void follow(boolean granted, int count) {
        boolean wasFirst;
        synchronized (this) {
            if (count != watch) {
                return;
            }
            wasFirst = position.kind() == Kind.FIRST;
            if (granted) {
                stopWatching();
                position = position.granted();
            }
        }
        if (granted) {
            turnHasCome();
        } else if (wasFirst) {
            listAndWatchQueue();
        } else {
            list(null, count);
        }
    }

    /** Nobody will tell this request its turn: it has to ask. */
    private void watchFailed() {
        stale = true;
        if (!session.isOver()) {
            turnHasCome();
        }
    }

    /**
     * Whether the predecessor is still there, or only a listing says for whom the request waits; if not the queue is
     * listed anew. Asked once in a while, in case that a watch was lost.
     */
    private void checkPredecessor(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        QueuePosition seen = position;
        seenAt = System.nanoTime();
        if (seen.kind() == Kind.GRANTED) {
            return;
        }
        if (seen.behind().isEmpty() || request.mode() == LockMode.PERMITS) {
            // A predecessor may be there and wait no more, and may have failed to say so.
            stale = true;
            return;
        }
        CompletableFuture<Stat> asked = session.stat(
                        containerPath + "/" + seen.behind().get())
                .whenComplete((none, failure) -> {
                    if (failure instanceof KeeperException.NoNodeException && seen.equals(position)) {
                        stale = true;
                    }
                });
        try {
            Stat unused = EnsembleCalls.await(asked, deadline);
        } catch (KeeperException.NoNodeException e) {
            // It has left: a listing says who else is in the way.
        }
    }

    /** The turn has come, or the request has to ask; on the thread of the session's events. */
    private void turnHasCome() {
        Container in = container;
        // A reader may have other readers before it.
        if (in != null && request.mode() == LockMode.EXCLUSIVE && position.kind() == Kind.GRANTED) {
            in.becameFirst(node.number(), how);
        }
        long confirmedAt = session.confirmedAt();
        CreateResult own = node.get();
        if (own != null && isGranted(own) && !session.isOld(confirmedAt, 4)) {
            handOut();
            signals.granted(
                    request,
                    () -> own.equals(node.get()) && isGranted(own)
                            ? Optional.of(
                                    new Attempt.Granted(grant(own), Duration.ofNanos(System.nanoTime() - confirmedAt)))
                            : Optional.empty());
        } else {
            signals.recheck(request.key(), request.id());
        }
    }

    private boolean isGranted(CreateResult own) {
        return position.kind() == Kind.GRANTED
                && session.breaks().knowsFloor()
                && !session.breaks().isKnownBroken(own.getStat().getCzxid())
                && !session.isOver();
    }

    // The grant.

    /**
     * Watches the node of a grant, so that its holder hears at once when somebody deletes it by hand; from the first
     * renewal on, since a lock that is held for less than half of its ttl need not cost a watch.
     */
    void watchHeld(Grant grant) {
        if (notice != null) {
            notice.give();
        }
        if (watched) {
            return;
        }
        watched = true;
        // A watch of the children is told of a deletion, and of no change.
        CompletableFuture<?> unused = session.watches()
                .children(grant.cookie(), event -> {
                    if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
                        deletedByHand(grant);
                    }
                })
                .whenComplete((none, failure) -> {
                    if (failure instanceof KeeperException.NoNodeException) {
                        deletedByHand(grant);
                    } else if (failure != null) {
                        watched = false;
                    }
                });
    }

    private void deletedByHand(Grant grant) {
        CreateResult own = node.get();
        if (held && own != null && token(own) == grant.token()) {
            broken = true;
            signals.ended(grant.key(), grant.token(), LeaseLoss.Cause.BROKEN, "somebody deleted " + grant.cookie());
        }
    }

    /** The session was told that the grant is broken; the owner is told once. */
    void breakGrant(String reason) {
        CreateResult own = node.get();
        if (own != null && !broken) {
            broken = true;
            signals.ended(request.key(), token(own), LeaseLoss.Cause.BROKEN, reason);
        }
    }

    /** The session is over, and with it the node and the grant. */
    void ended(String why) {
        CreateResult own = node.get();
        if (own != null && held) {
            signals.ended(request.key(), token(own), LeaseLoss.Cause.EXPIRED, why);
        }
        signals.recheck(request.key(), request.id());
    }

    // The end.

    /**
     * Deletes the node of the grant.
     *
     * @param sessions where there is a session that can delete it, if its own is over
     */
    Answer release(Grant grant, Sessions sessions, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        held = false;
        // Those behind it may watch how it leaves.
        boolean followed = request.mode() == LockMode.EXCLUSIVE && (everWaited || position.followed());
        String changed = followed ? grant.cookie() : notice != null && notice.isLost() ? containerPath : null;
        boolean done = delete(grant.cookie(), changed, sessions, deadline);
        return done && !wasBroken(czxid(grant), deadline) ? Answer.DONE : Answer.NOT_HELD;
    }

    /** Asked after the deletion was answered, so that each break before it has been heard. */
    private boolean wasBroken(long czxid, Deadline deadline)
            throws KeeperException, TimeoutException, InterruptedException {
        if (session.isOver()) {
            return broken;
        }
        boolean was = session.breaks().isBroken(czxid, deadline);
        if (was) {
            session.breaks().forget(czxid);
        }
        return was;
    }

    /** Nobody is to hold by it any more; said before {@link #withdraw} waits. */
    void giveUp() {
        held = false;
    }

    /** Deletes whatever there is of it; between {@link #begin} and {@link #end}. */
    void withdraw(Sessions sessions, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        CreateResult own = node.get();
        if (!session.isOver()) {
            session.awaitConnected(deadline, false);
            leave(deadline);
        } else if (own != null) {
            boolean unused = delete(own.getPath(), null, sessions, deadline);
        }
    }

    /** Deletes whatever there is of it, in its own session. */
    void leave(Deadline deadline) throws KeeperException, TimeoutException, InterruptedException {
        try {
            stopWatching();
            try {
                node.settle(deadline);
            } catch (KeeperException.ConnectionLossException e) {
                // Looked for below.
            }
            node.resolve(deadline);
            CreateResult own = node.get();
            if (own != null) {
                boolean unused = EnsembleCalls.await(session.delete(own.getPath()), deadline);
                deleted();
            }
        } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
            // Gone already, perhaps with its session.
        }
    }

    /**
     * Deletes a node; false if it was gone.
     *
     * @param changed the node whose data are changed by that too: its own tell those behind it that it held; null if
     *     none
     */
    private boolean delete(String path, @Nullable String changed, Sessions sessions, Deadline deadline)
            throws KeeperException, NotExecutedException, TimeoutException, InterruptedException {
        // After a session that is over another one deletes what the ensemble may still keep of it.
        Session by = session.isOver() ? sessions.connected(request.key(), request.ttl(), deadline, false) : session;
        by.awaitConnected(deadline, false);
        try {
            boolean done = EnsembleCalls.await(
                    changed == null ? by.delete(path) : by.changeAndDelete(changed, path), deadline);
            deleted();
            return done;
        } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
            return false;
        }
    }

    private void deleted() {
        Container in = container;
        if (in != null && node.get() != null) {
            in.deleted(node.number());
        }
    }

    /** Nobody calls for the request any more: sends what deletes the node, if there is one. */
    void forgotten() {
        CreateResult own = node.get();
        if (own != null && !session.isOver()) {
            CompletableFuture<Boolean> unused = session.delete(own.getPath());
        }
    }

    /** The session was given up, and the request begins anew in another, which sends what deletes the node here. */
    void replacedIn(Session other) {
        CreateResult own = node.get();
        if (own != null) {
            CompletableFuture<Boolean> unused = other.delete(own.getPath());
        }
    }

    /** The session goes on without this client, for which others delete what there is of the request. */
    void leaveTo(LeftoverNodes leftovers) {
        stopWatching();
        node.leaveTo(leftovers);
    }
}
