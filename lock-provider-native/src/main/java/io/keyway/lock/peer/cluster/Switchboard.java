// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.lease.LeaseCall;
import io.keyway.lock.peer.lease.LeaseCodec;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.lease.LeaseMessage;
import io.keyway.lock.peer.lease.LeaseNotice;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.EventThread;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.WakefulClock;
import io.keyway.lock.peer.session.Aim;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Greeting;
import io.keyway.lock.peer.wire.BodyCodecs;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.spi.LockEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads what users ask to the authority of its name, over one line each, all on one event thread. Who the members are is learnt from each welcome; what a member sends away is asked again, after a moment,
 * by the latest list.
 */
final class Switchboard implements Line.Operator {
    private static final Logger LOG = LoggerFactory.getLogger(Switchboard.class);
    /** Members that disagree about a name are about to change their list. */
    private static final long AGAIN_MILLIS = 100;

    private static final long FIND_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Numbers of questions to single authorities: between those of locks and those of administrators. */
    private static final long FIRST_SURVEY = 1L << 61;

    private final String client;
    private final ClusterPlace place;
    private final WakefulClock clock;
    private final BiConsumer<Notice, String> ears;
    private final List<LockEngine.Observer> observers;
    private final EventThread io;
    private final HostNames names;
    private final FrameCodec codec = new FrameCodec(new BodyCodecs(new LeaseCodec()));
    private final CompletableFuture<Void> greeted = new CompletableFuture<>();
    private final Map<Authority, Line> lines = new ConcurrentHashMap<>();
    /** Requests that were sent away and are to be asked again in a moment. */
    private final Map<Long, LeaseCall.Acquire> sentAway = new ConcurrentHashMap<>();

    private volatile @Nullable Routes routes;
    private volatile String trouble = "";

    private final Lobby lobby;
    private final Map<Long, Survey> surveys = new HashMap<>();
    private final Map<String, Integer> connections = new HashMap<>();
    private @Nullable Line finder;
    /** Lines that found a member to which there is one already; they say goodbye. */
    private final Set<Line> spare = new HashSet<>();

    private long lastSurvey = FIRST_SURVEY;
    private long foundAt;
    private int refusals;

    Switchboard(
            String client,
            ClusterPlace place,
            WakefulClock clock,
            BiConsumer<Notice, String> ears,
            List<LockEngine.Observer> observers) {
        this.client = client;
        this.place = place;
        this.clock = clock;
        this.ears = ears;
        this.observers = observers;
        this.io = new EventThread("keyway-" + client + "-io");
        this.names = new HostNames("keyway-" + client + "-names");
        this.lobby = new Lobby(notice -> ears.accept(notice, place.cluster()));
        io.loop().execute(this::find);
    }

    /** From any thread. */
    void post(Input.Command command) {
        if (command.call() instanceof LeaseCall.Withdraw withdraw
                && !sentAway.isEmpty()
                && sentAway.remove(withdraw.request()) != null) {
            return;
        }
        Routes known = routes;
        if (known == null || command.key().equals(LeaseKeys.DIRECTORY)) {
            onLoop(() -> enter(command));
        } else {
            lead(command, known);
        }
    }

    private void onLoop(Runnable task) {
        try {
            io.loop().execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} has closed", client, e);
        }
    }

    private void lead(Input.Command command, Routes by) {
        line(by.authority(command.key().id())).loop().post(command);
    }

    /** Completed by the first welcome. */
    CompletableFuture<Void> greeted() {
        return greeted;
    }

    /** Why the members are not known; empty once they are. */
    String trouble() {
        return trouble;
    }

    private Line line(Authority authority) {
        return lines.computeIfAbsent(
                authority,
                to -> line(Aim.at(to.node().toString(), to.shard()), to.node().toString(), List.of(to.node())));
    }

    private Line line(Aim aim, String server, List<NodeId> addresses) {
        return new Line(
                io.loop(),
                clock::nanoTime,
                place.cells().client(aim, 0, 0),
                server,
                addresses,
                address -> NodeId.parse(place.elsewhere().reach(address.toString())),
                names,
                cell -> connector(cell, server),
                this);
    }

    private Connector connector(CellLoop cell, String server) {
        return new Connector(
                cell, codec, place.connectTimeout(), place.security().tls(), "the connection to " + server);
    }

    // Who the members are; all of the following on the event thread

    private void find() {
        if (finder != null) {
            return;
        }
        foundAt = clock.nanoTime();
        int first = ThreadLocalRandom.current().nextInt(place.addresses().size());
        List<NodeId> addresses = new ArrayList<>(
                place.addresses().subList(first, place.addresses().size()));
        addresses.addAll(place.addresses().subList(0, first));
        Line looking = line(Aim.ANY_MEMBER, "cluster " + place.cluster(), addresses);
        finder = looking;
        looking.loop().begin(List.of());
    }

    private void learn(Greeting greeting) {
        Routes told = Routes.of(greeting);
        Routes known = routes;
        if (!told.equals(known)) {
            LOG.debug("{}: the members of cluster {} are {}", client, place.cluster(), told.members());
            routes = told;
            lines.forEach((authority, line) -> {
                if (!told.members().members().contains(authority.node())) {
                    line.loop().post(new Input.Dismissed());
                }
            });
        }
        trouble = "";
        refusals = 0;
        lobby.leave(clock.nanoTime()).forEach(this::enter);
        greeted.complete(null);
    }

    /** The line that looked for members has found one: it goes on as the line to that member, or ends if there is one. */
    private void found(Line line, Greeting greeting) {
        finder = null;
        NodeId node = NodeId.parse(greeting.node());
        line.settled(node);
        if (lines.putIfAbsent(new Authority(node, 0), line) != null) {
            spare.add(line);
            line.loop().post(new Input.Closing());
        }
    }

    private void enter(Input.Command command) {
        Routes known = routes;
        if (known == null) {
            lobby.add(command, clock.nanoTime());
        } else if (command.call() instanceof LeaseCall.ListNames question) {
            survey(question, known);
        } else {
            lead(command, known);
        }
    }

    @Override
    public void turned(Line line, ClientSession session) {
        clock.look();
        Greeting greeting = session.greeting();
        if (line.greeted(greeting) && greeting != null) {
            try {
                welcomed(line, greeting);
            } catch (IllegalArgumentException e) {
                LOG.warn("{}: {} tells of a cluster that cannot be: {}", client, line.server(), e.getMessage());
            }
        }
        if (line.changes(session.connected())) {
            connection(line.server(), line.connected());
        }
        Unreachable now = session.trouble();
        if (line.troubled(now) && now != null) {
            troubled(line, now);
        }
        if (session.closed() && spare.remove(line)) {
            io.loop().execute(line.loop()::shut);
        }
    }

    private void welcomed(Line line, Greeting greeting) {
        if (line == finder) {
            found(line, greeting);
        }
        learn(greeting);
    }

    private void troubled(Line line, Unreachable why) {
        if (line != finder) {
            // All members may have moved while this one was not looking.
            if (clock.nanoTime() - foundAt > FIND_AGAIN_NANOS) {
                find();
            }
            return;
        }
        if (routes == null) {
            trouble = why.why();
        }
        lobby.trouble(why);
        refusals = why.final_() ? refusals + 1 : 0;
        if (refusals >= place.addresses().size()) {
            lobby.refuse(why.why());
        }
    }

    private void connection(String server, boolean stands) {
        int now = connections.merge(server, stands ? 1 : -1, Integer::sum);
        if (stands ? now != 1 : now != 0) {
            return;
        }
        for (LockEngine.Observer observer : observers) {
            if (stands) {
                observer.connected(server);
            } else {
                observer.disconnected(server, "the connection ended");
            }
        }
    }

    // What the cells tell

    @Override
    public void heard(Line line, Notice notice) {
        String server = line.server();
        if (notice instanceof LeaseNotice.Misdirected away && away.call() != null) {
            corrected(line);
            askAgain(away.key().id(), away.call());
        } else if (notice instanceof LeaseNotice.Trouble said) {
            String why = server + " does not serve: " + said.why();
            ears.accept(new LeaseNotice.Trouble(said.key(), said.request(), why, said.user()), server);
        } else if (notice instanceof LeaseNotice.Failed failed) {
            String why = server + ": " + failed.why();
            if (!surveyFailed(failed.request(), why, server)) {
                ears.accept(new LeaseNotice.Failed(failed.key(), failed.request(), why, failed.user()), server);
            }
        } else if (notice instanceof LeaseNotice.Misdirected away
                && surveyFailed(away.request(), server + " is no member any more; ask again", server)) {
            LOG.debug("{}: a survey was sent away by {}", client, server);
        } else if (notice instanceof LeaseNotice.Told told && told.answer() instanceof LeaseMessage.Page page) {
            surveyed(page, server);
        } else {
            ears.accept(notice, server);
        }
    }

    /** Whoever sends a request away knows another list, whatever another member said last. */
    private void corrected(Line line) {
        Greeting said = line.greeting();
        Routes known = routes;
        if (said != null && known != null && known.members().members().contains(NodeId.parse(said.node()))) {
            learn(said);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a loop that has ended asks nobody
    private void askAgain(String name, LeaseCall.Acquire call) {
        sentAway.put(call.request(), call);
        io.loop()
                .schedule(
                        () -> {
                            if (sentAway.remove(call.request()) != null) {
                                enter(new Input.Command(LeaseKeys.lock(name), call));
                            }
                        },
                        AGAIN_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    private void survey(LeaseCall.ListNames question, Routes by) {
        List<Authority> all = by.all();
        long number = ++lastSurvey;
        surveys.put(number, new Survey(question, all.size()));
        for (Authority authority : all) {
            LeaseCall.ListNames each = new LeaseCall.ListNames(
                    number, question.prefix(), question.after(), question.max(), question.limit());
            line(authority).loop().post(new Input.Command(LeaseKeys.DIRECTORY, each));
        }
    }

    private void surveyed(LeaseMessage.Page page, String server) {
        Survey survey = surveys.get(page.request());
        if (survey != null) {
            survey.add(page).ifPresent(whole -> {
                surveys.remove(page.request());
                ears.accept(new LeaseNotice.Told(LeaseKeys.DIRECTORY, whole), server);
            });
        }
    }

    /** True if that number was a question of a survey; the whole of it fails with the first authority. */
    private boolean surveyFailed(long number, String why, String server) {
        if (number <= FIRST_SURVEY || number > lastSurvey) {
            return false;
        }
        Survey survey = surveys.remove(number);
        if (survey != null) {
            long asked = survey.question().request();
            ears.accept(new LeaseNotice.Failed(LeaseKeys.DIRECTORY, asked, why, null), server);
        }
        return true;
    }

    /** Says goodbye to all members, within a part of the close timeout. */
    void end() {
        List<Line> all = new ArrayList<>();
        io.run(() -> {
            all.addAll(lines.values());
            all.addAll(spare);
            if (finder != null) {
                all.add(finder);
            }
            all.forEach(line -> line.loop().post(new Input.Closing()));
        });
        long deadline = System.nanoTime() + place.closeTimeout().toNanos() / 4;
        boolean interrupted = false;
        for (Line line : all) {
            try {
                boolean said = line.goodbye().await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                LOG.trace("{}: goodbye to {}: {}", client, line.server(), said);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        names.close();
        io.run(() -> all.forEach(line -> line.loop().shut()));
        io.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
