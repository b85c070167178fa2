// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.OpeningWatch;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.WelcomeInfo;
import io.keyway.lock.spi.NodeParts;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Leads what the users of one client ask to the cell that decides on it, over one connection for each such cell, and
 * what the cells tell back to the users. A state machine without sockets, threads or clocks: whoever runs it brings a
 * {@link World}.
 *
 * <p>What it knows of the members:
 *
 * <ul>
 *   <li><em>Nothing yet.</em> Requests wait ({@link UnroutedRequests}) while one connection, the finder, dials the
 *   addresses of the URL in turn. Whoever waits hears why nobody answers; if every address refuses for good, all who
 *   wait fail.
 *   <li><em>A list</em>, from the last welcome that differed from the one before. Each request goes to the cell that
 *   decides on its route by this list. The finder goes on as the connection to the member that it has found.
 *   <li><em>A list that may be old.</em> A member sends a request away that it does not decide on, and is asked again
 *   by the newer list a moment later; who waits at somebody who is no member any more is sent away too. While a member
 *   does not answer, a new finder looks whether all have moved.
 * </ul>
 *
 * <p><b>Invariants.</b> A request is at one place at any time: it waits for a list, or a connection has it, or it was
 * sent away and is about to be asked again ({@link Away}). A withdrawal follows it there. Since a client may know the
 * next list while a member still decides by the former one, a withdrawal goes to each connection to which any list has
 * ever led its name, and is remembered for as long as one of them may still send the request away. What belongs to a
 * grant does not come here: it goes to the connection that told of the grant ({@link ClientCell}).
 *
 * <p>Where members lead, there is one connection for the cells of each number, to whichever member leads them.
 *
 * <p>A question for all names is put to all cells, each time under a number of its own, and their pages become one
 * ({@link MergedPage}).
 *
 * <p>All of it runs on one thread of the world, but for {@link #post}, which leads a request directly once there is a
 * list, and what says so.
 *
 * @param <C> the connections of that world
 */
public final class Router<C extends Router.Connection> {
    /** A cell of this client that talks to one cell of a member. */
    public interface Connection extends ClientCell {
        /** The member that it is for; null while any member will do. */
        @Nullable
        NodeId node();

        /** It talks to that member from now on. */
        void settled(NodeId member);
    }

    /** What runs the rules. */
    public interface World<C> {
        /** Nanoseconds on the clock of the cells. */
        long now();

        /** Runs the task on the router's thread, after all that was given to it before. From any thread. */
        void run(Runnable task);

        /** Runs the task on the router's thread after that time. */
        void after(long nanos, Runnable task);

        /** A new connection to that cell of a member, at the address that is the member's id. From any thread. */
        C connection(ShardId to);

        /** A new connection to any member, at the addresses that the user named. It dials at once. */
        C finder();

        /** There is a connection already to the member that this one has found: it says goodbye and ends. */
        void spare(C connection);

        /** The members are these from now on. */
        void learned(Routes routes);

        /** A member tells of a cluster that cannot be. */
        void nonsense(C connection, String why);

        /** A notice for the users; of no connection if it is about the cluster. */
        void tell(@Nullable C from, Notice notice);
    }

    /** Members that disagree about a name are about to change their list. */
    private static final long AGAIN_NANOS = 100_000_000L;

    private static final long FIND_AGAIN_NANOS = 5_000_000_000L;
    /** By then a connection has taken what was posted to it. */
    private static final long TAKEN_NANOS = 10_000_000_000L;
    /** Numbers of questions to single cells: between those of locks and those of administrators. */
    private static final long FIRST_SURVEY = 1L << 61;

    /** A request that was sent away, and when. */
    private record Away(Key key, LockCall.Acquire call, long since) {}

    /** What a connection's member said last. */
    private static final class Said {
        final OpeningWatch opening = new OpeningWatch();

        @Nullable
        WelcomeInfo welcome;

        @Nullable
        Unreachable trouble;

        /** Since when it has trouble, if it has. */
        long troubledAt;
    }

    /** The latest list, and the connections by the numbers of {@link MemberList#cell}, as far as they were needed. */
    private static final class Latest<C> {
        final Routes routes;
        final AtomicReferenceArray<@Nullable C> connections;

        Latest(Routes routes) {
            this.routes = routes;
            this.connections =
                    new AtomicReferenceArray<>(routes.members().members().size() * routes.shards());
        }
    }

    private final World<C> world;
    private final Function<Key, String> route;
    private final int addresses;
    private final Algorithm.Serving serving;

    private final Map<ShardId, C> connections = new ConcurrentHashMap<>();
    private final Map<C, Said> said = new ConcurrentHashMap<>();
    private volatile @Nullable Latest<C> latest;
    /** What was posted and is not led yet, as withdrawals: a request that is led directly would overtake it. */
    private final AtomicInteger entering = new AtomicInteger();

    private volatile String trouble = "";

    /** All that was ever learnt: a request that waits may have been led by any of it. */
    private final Set<Routes> everKnown = new LinkedHashSet<>();

    private final Map<Long, Away> sentAway = new HashMap<>();
    /**
     * Requests whose withdrawal is on its way to their connection, which may be about to send them away, and since
     * when.
     */
    private final LinkedHashMap<Long, Long> withdrawn = new LinkedHashMap<>();

    private final UnroutedRequests unrouted;
    private final Map<Long, MergedPage> surveys = new HashMap<>();
    private @Nullable C finder;
    private long lastSurvey = FIRST_SURVEY;
    private long foundAt;
    private int refusals;

    /**
     * A router that knows nobody yet.
     *
     * @param addresses how many addresses a finder dials in turn
     * @param route what decides where a request for that machine goes; asked by any thread
     */
    public Router(int addresses, Function<Key, String> route, World<C> world) {
        this(addresses, route, Algorithm.Serving.BY_ROUTE, world);
    }

    /**
     * @param serving by which member; if by a leader, the finder's connection goes on as the one to the leader of the
     *     first cells, and each of the others is to the leader of its cells, for good
     */
    Router(int addresses, Function<Key, String> route, Algorithm.Serving serving, World<C> world) {
        this.addresses = addresses;
        this.serving = serving;
        this.route = route;
        this.world = world;
        this.unrouted = new UnroutedRequests(notice -> world.tell(null, notice));
    }

    /** What a user asks. From any thread; what is asked of a name after a call has returned is led after that. */
    public void post(Input.Command command) {
        Latest<C> known = latest;
        if (known != null && isOfARequest(command) && entering.get() == 0) {
            lead(command, known);
        } else {
            entering.incrementAndGet();
            world.run(() -> {
                try {
                    enter(command);
                } finally {
                    entering.decrementAndGet();
                }
            });
        }
    }

    private static boolean isOfARequest(Input.Command command) {
        return command.call() instanceof LockCall.Acquire || command.call() instanceof LockCall.Seek;
    }

    private void lead(Input.Command command, Latest<C> by) {
        if (command.call() instanceof LockCall.Acquire acquire && hasStrangers(acquire, by.routes.members())) {
            String why =
                    "a lock cannot be had at " + NodeParts.said(acquire.owner()).orElse("") + ": the members of this"
                            + " cluster are " + by.routes.members() + ". Name some of these, as they are written there";
            world.tell(null, new LockNotice.Failed(command.key(), acquire.request(), why, true, acquire.user()));
            return;
        }
        int cell = by.routes.cell(route.apply(command.key()));
        C connection = by.connections.get(cell);
        if (connection == null) {
            connection = connection(by.routes.authority(route.apply(command.key())));
            by.connections.set(cell, connection);
        }
        connection.post(command);
    }

    private static boolean hasStrangers(LockCall.Acquire acquire, MemberList members) {
        String set = NodeParts.said(acquire.owner()).orElse(null);
        return set != null && !members.haveAll(set.substring(set.lastIndexOf(' ') + 1));
    }

    private C connection(ShardId to) {
        return connections.computeIfAbsent(to, world::connection);
    }

    /** Why the members are not known; empty once they are. From any thread. */
    public String trouble() {
        return trouble;
    }

    /** What a request for that machine waits for although nobody holds the lock. From any thread. */
    public Optional<Opening> opening(Key key) {
        Latest<C> known = latest;
        C connection = known == null ? null : connections.get(known.routes.authority(route.apply(key)));
        return connection == null
                ? Optional.empty()
                : said(connection).opening.opening(connection.server(), world.now());
    }

    private Said said(C connection) {
        return said.computeIfAbsent(connection, each -> new Said());
    }

    /** That connection has ended, and is heard no more. */
    void ended(C connection) {
        said.remove(connection);
    }

    /** All connections that are in use. */
    Collection<C> connections() {
        return connections.values();
    }

    /** The connection that looks for members; null if none does. */
    @Nullable
    C finder() {
        return finder;
    }

    // Who the members are; all of the following on the router's thread

    /** Looks for somebody who knows the members, unless that is under way. */
    public void find() {
        if (finder == null) {
            foundAt = world.now();
            finder = world.finder();
        }
    }

    /** The connection's cell has had some turns; {@code welcome} and {@code why} are the last ones of its session. */
    @SuppressWarnings("ReferenceEquality") // each welcome counts, and each attempt, also one that says the same
    public void turned(C connection, @Nullable WelcomeInfo welcome, @Nullable Unreachable why) {
        Said known = said(connection);
        WelcomeInfo formerWelcome = known.welcome;
        Unreachable formerTrouble = known.trouble;
        known.welcome = welcome;
        known.trouble = why;
        known.troubledAt = formerTrouble == null ? world.now() : known.troubledAt;
        if (welcome != null && welcome != formerWelcome) {
            known.opening.greeted(welcome, world.now());
            try {
                welcomed(connection, welcome);
            } catch (IllegalArgumentException e) {
                world.nonsense(connection, String.valueOf(e.getMessage()));
            }
        }
        if (why != null && why != formerTrouble) {
            troubled(connection, why);
        }
    }

    /** A finder that has found a member goes on as the connection to that member, or ends if there is one. */
    private void welcomed(C connection, WelcomeInfo welcome) {
        Routes told = told(welcome);
        NodeId answering = NodeId.parse(welcome.node());
        NodeId leading = isLed() ? told.only() : null;
        if (connection == finder) {
            finder = null;
            connection.settled(answering);
            if (connections.putIfAbsent(new ShardId(leading == null ? answering : leading, 0), connection) != null) {
                world.spare(connection);
            }
        } else if (leading != null) {
            connection.settled(answering);
        }
        learn(told);
    }

    /** Where requests go by the welcome of that member. */
    private Routes told(WelcomeInfo welcome) {
        Routes told = Routes.of(welcome);
        return serving == Algorithm.Serving.BY_ROUTE
                ? told
                : told.by(attached(NodeId.parse(welcome.node()), told.members()));
    }

    private boolean isLed() {
        return serving == Algorithm.Serving.BY_LEADER;
    }

    private NodeId attached(NodeId answering, MemberList members) {
        Latest<C> known = latest;
        NodeId former = known == null ? null : known.routes.only();
        if (former == null) {
            return answering;
        }
        // A client calls all leaders by the member that it has found first.
        return isLed() || members.members().contains(former) ? former : answering;
    }

    private void learn(Routes told) {
        Latest<C> known = latest;
        if (known == null || !told.equals(known.routes)) {
            everKnown.add(told);
            if (known != null && known.routes.shards() != told.shards()) {
                surveys.values().forEach(survey -> survey.incomplete("the number of shards has changed; ask again"));
            }
            latest = new Latest<>(told);
            world.learned(told);
            connections.forEach((to, connection) -> {
                dismissStranger(connection, told);
                if (isLed() && to.shard() >= told.shards()) {
                    connection.post(new Input.Dismissed()); // all members were started with fewer cells
                }
            });
        }
        trouble = "";
        refusals = 0;
        unrouted.takeAll(world.now()).forEach(this::enter);
    }

    /** Whoever waits at a member that is none any more has to ask elsewhere. */
    private void dismissStranger(C connection, Routes known) {
        NodeId node = connection.node();
        if (node != null && !known.members().members().contains(node)) {
            connection.post(new Input.Dismissed());
        }
    }

    private void troubled(C connection, Unreachable why) {
        Latest<C> known = latest;
        if (connection != finder) {
            if (known != null) {
                dismissStranger(connection, known.routes);
            }
            if (isLed() && known != null && number(connection) >= known.routes.shards()) {
                connection.post(new Input.Dismissed()); // what was posted while the number became smaller
            }
            // All members may have moved while this one was not looking. A client of a leader looks for it at all
            // members, but not for another number of cells.
            boolean looksForAll = !isLed()
                    || (number(connection) > 0 && world.now() - said(connection).troubledAt > FIND_AGAIN_NANOS);
            if (looksForAll && world.now() - foundAt > FIND_AGAIN_NANOS) {
                find();
            }
            return;
        }
        if (known == null) {
            trouble = why.why();
        }
        unrouted.trouble(why);
        refusals = why.final_() ? refusals + 1 : 0;
        if (refusals >= addresses) {
            unrouted.refuse(why.why());
        }
    }

    /** For the cells of which number that connection is. */
    private int number(C connection) {
        for (Map.Entry<ShardId, C> each : connections.entrySet()) {
            if (each.getValue().equals(connection)) {
                return each.getKey().shard();
            }
        }
        return 0;
    }

    // What users ask

    private void enter(Input.Command command) {
        if (command.call() instanceof LockCall.Withdraw withdraw) {
            withdraw(command, withdraw.request());
            return;
        }
        Latest<C> known = latest;
        if (known == null && command.call() instanceof LockCall.Seek) {
            return; // its request is not known to anybody either
        }
        if (known == null) {
            unrouted.add(command, world.now());
            UnroutedRequests.patience(command).ifPresent(after -> world.after(after, () -> unrouted.expire(command)));
        } else if (command.call() instanceof LockCall.ListNames question) {
            survey(command.key(), question, known.routes);
        } else {
            lead(command, known);
        }
    }

    private void withdraw(Input.Command command, long request) {
        Away away = sentAway.remove(request);
        if (away != null) {
            tellWithdrawn(away.key(), away.call());
        }
        if (away != null || unrouted.withdraw(request)) {
            return;
        }
        long now = world.now();
        withdrawn.put(request, now);
        Iterator<Long> oldest = withdrawn.values().iterator();
        while (oldest.hasNext() && now - oldest.next() > TAKEN_NANOS) {
            oldest.remove();
        }
        Set<ShardId> asked = new LinkedHashSet<>();
        for (Routes each : everKnown) {
            ShardId authority = each.authority(route.apply(command.key()));
            C connection = asked.add(authority) ? connections.get(authority) : null;
            if (connection != null) {
                connection.post(command);
            }
        }
    }

    // What the cells tell

    /** What that connection's cell tells its user. */
    public void heard(C connection, Notice notice) {
        String server = connection.server();
        if (notice instanceof LockNotice.Misdirected away && away.call() != null) {
            corrected(connection);
            askAgain(away.key(), away.call());
        } else if (notice instanceof LockNotice.Trouble said) {
            String why = said(connection)
                    .opening
                    .why(said, server, world.now())
                    .orElse(server + " does not serve: " + said.why());
            world.tell(connection, said.because(why));
        } else if (notice instanceof LockNotice.Failed failed) {
            String why = server + ": " + failed.why();
            if (!surveyFailed(connection, failed.request(), why)) {
                world.tell(
                        connection,
                        new LockNotice.Failed(failed.key(), failed.request(), why, failed.lasting(), failed.user()));
            }
        } else if (notice instanceof LockNotice.Misdirected away
                && surveyFailed(connection, away.request(), server + " is no member any more; ask again")) {
            corrected(connection);
        } else if (notice instanceof LockNotice.Told told && told.answer() instanceof LockMessage.Page page) {
            surveyed(connection, page);
        } else {
            world.tell(connection, notice);
        }
    }

    /** Whoever sends a request away knows another list, whatever another member said last. */
    private void corrected(C connection) {
        WelcomeInfo welcome = said(connection).welcome;
        Latest<C> known = latest;
        if (welcome != null
                && known != null
                && number(connection) < known.routes.shards()
                && known.routes.members().members().contains(NodeId.parse(welcome.node()))) {
            learn(told(welcome));
        }
    }

    private void tellWithdrawn(Key key, LockCall.Acquire call) {
        world.tell(null, new LockNotice.Withdrawn(key, call.request(), call.user()));
    }

    private void askAgain(Key key, LockCall.Acquire call) {
        if (withdrawn.remove(call.request()) != null) {
            tellWithdrawn(key, call);
            return;
        }
        sentAway.put(call.request(), new Away(key, call, world.now()));
        world.after(AGAIN_NANOS, () -> {
            Away away = sentAway.remove(call.request());
            if (away != null) {
                enter(new Input.Command(away.key(), away.call().after(world.now() - away.since())));
            }
        });
    }

    private void survey(Key key, LockCall.ListNames question, Routes by) {
        NodeId leading = isLed() ? by.only() : null;
        List<ShardId> all = leading == null ? by.all() : by.allOf(leading);
        long number = ++lastSurvey;
        surveys.put(number, new MergedPage(key, question, all.size()));
        for (ShardId authority : all) {
            // Half of the time, so that some is left to ask for the names that the others have told.
            LockCall.ListNames each = new LockCall.ListNames(
                    number, question.prefix(), question.after(), question.max(), question.limit() / 2);
            connection(authority).post(new Input.Command(key, each));
        }
    }

    private void surveyed(C connection, LockMessage.Page page) {
        MergedPage survey = surveys.get(page.request());
        if (survey != null) {
            survey.add(page);
            surveyed(connection, page.request(), survey);
        }
    }

    private void surveyed(C connection, long number, MergedPage survey) {
        if (survey.complete()) {
            surveys.remove(number);
            world.tell(connection, survey.result());
        }
    }

    /** True if that number was a question of a survey. */
    private boolean surveyFailed(C connection, long number, String why) {
        if (number <= FIRST_SURVEY || number > lastSurvey) {
            return false;
        }
        MergedPage survey = surveys.get(number);
        if (survey != null) {
            survey.silent(why);
            surveyed(connection, number, survey);
        }
        return true;
    }
}
