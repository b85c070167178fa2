// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.WelcomeInfo;
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
import org.jspecify.annotations.Nullable;

/**
 * Leads what users ask to the authority of its name, over one line each. Who the members are is learnt from each
 * welcome; what a member sends away is asked again, after a moment, by the latest list.
 *
 * <p>While a list changes, a client may know the next one and a member still decide by the former one. So only requests
 * are led by the latest list: what belongs to a grant goes to the line that told of the grant
 * ({@link io.keyway.lock.peer.engine.ClientCell}), and a withdrawal to each line to which any list has ever led its name.
 *
 * <p>The rules alone, without sockets, threads or clocks: whoever runs them brings a {@link World}. All of them run on one thread of it, but for {@link #post}.
 *
 * @param <L> the lines of that world
 */
public final class Router<L extends MemberConnection> {
    /** What runs the rules. */
    public interface World<L> {
        /** Nanoseconds on the clock of the cells. */
        long now();

        /** Runs the task on the router's thread, after all that was given to it before. From any thread. */
        void run(Runnable task);

        /** Runs the task on the router's thread after that time. */
        void after(long nanos, Runnable task);

        /** A new line to that authority, at the address that is its id. From any thread. */
        L line(ShardId authority);

        /** A new line to any member, at the addresses that the user named. It dials at once. */
        L finder();

        /** There is a line already to the member that this one has found: it says goodbye and ends. */
        void spare(L line);

        /** The members are known, or others than before. */
        void learned(Routes routes);

        /** What decides where a request for that machine goes. From any thread. */
        default String route(Key key) {
            return key.id();
        }

        /** A member tells of a cluster that cannot be. */
        void nonsense(L line, String why);

        /** A notice for the users; of no line if it is about the cluster. */
        void tell(@Nullable L from, Notice notice);
    }

    /** Members that disagree about a name are about to change their list. */
    private static final long AGAIN_NANOS = 100_000_000L;

    private static final long FIND_AGAIN_NANOS = 5_000_000_000L;
    /** By then a line has taken what was posted to it. */
    private static final long TAKEN_NANOS = 10_000_000_000L;
    /** Numbers of questions to single authorities: between those of locks and those of administrators. */
    private static final long FIRST_SURVEY = 1L << 61;

    /** A request that was sent away, and when. */
    private record Away(Key key, LockCall.Acquire call, long since) {}

    private final World<L> world;
    private final int addresses;
    private final Map<ShardId, L> lines = new ConcurrentHashMap<>();
    private volatile @Nullable Routes routes;
    private volatile String trouble = "";

    /** All that was ever learnt: a request that waits may have been led by any of it. */
    private final Set<Routes> everKnown = new LinkedHashSet<>();

    private final Map<Long, Away> sentAway = new HashMap<>();
    /** Requests whose withdrawal is on its way to their line, which may be about to send them away, and since when. */
    private final LinkedHashMap<Long, Long> withdrawn = new LinkedHashMap<>();

    private final UnroutedRequests lobby;
    private final Map<Long, MergedPage> surveys = new HashMap<>();
    private @Nullable L finder;
    private long lastSurvey = FIRST_SURVEY;
    private long foundAt;
    private int refusals;

    /** @param addresses how many addresses a finder dials in turn */
    public Router(int addresses, World<L> world) {
        this.addresses = addresses;
        this.world = world;
        this.lobby = new UnroutedRequests(notice -> world.tell(null, notice));
    }

    /** What a user asks. From any thread; what one thread asks of a name is led in that order. */
    public void post(Input.Command command) {
        Routes known = routes;
        if (known != null && command.call() instanceof LockCall.Acquire) {
            lead(command, known);
        } else {
            world.run(() -> enter(command));
        }
    }

    private void lead(Input.Command command, Routes by) {
        line(by.authority(world.route(command.key()))).post(command);
    }

    private L line(ShardId authority) {
        return lines.computeIfAbsent(authority, world::line);
    }

    /** Why the members are not known; empty once they are. From any thread. */
    public String trouble() {
        return trouble;
    }

    /** What a request for that name waits for although nobody holds the lock. From any thread. */
    public Optional<Opening> opening(String name) {
        Routes known = routes;
        MemberConnection line = known == null ? null : lines.get(known.authority(name));
        return line == null ? Optional.empty() : line.opening().opening(line.server(), world.now());
    }

    /** All lines that are in use. */
    Collection<L> lines() {
        return lines.values();
    }

    /** The line that looks for members; null if none does. */
    @Nullable
    L finder() {
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

    /** The line's cell has had some turns; {@code greeting} and {@code why} are the last ones of its session. */
    public void turned(L line, @Nullable WelcomeInfo greeting, @Nullable Unreachable why) {
        line.opening().greeted(greeting, world.now());
        if (line.greeted(greeting) && greeting != null) {
            try {
                welcomed(line, greeting, Routes.of(greeting));
            } catch (IllegalArgumentException e) {
                world.nonsense(line, String.valueOf(e.getMessage()));
            }
        }
        if (line.troubled(why) && why != null) {
            troubled(line, why);
        }
    }

    /** A line that looked for members and has found one goes on as the line to that member, or ends if there is one. */
    private void welcomed(L line, WelcomeInfo greeting, Routes told) {
        if (line == finder) {
            NodeId node = NodeId.parse(greeting.node());
            finder = null;
            line.settled(node);
            if (lines.putIfAbsent(new ShardId(node, 0), line) != null) {
                world.spare(line);
            }
        }
        learn(told);
    }

    private void learn(Routes told) {
        if (!told.equals(routes)) {
            everKnown.add(told);
            routes = told;
            world.learned(told);
            lines.forEach((authority, line) -> dismissStranger(line, told));
        }
        trouble = "";
        refusals = 0;
        lobby.leave(world.now()).forEach(this::enter);
    }

    /** Whoever waits at a member that is none any more has to ask elsewhere. */
    private void dismissStranger(L line, Routes known) {
        NodeId node = line.node();
        if (node != null && !known.members().members().contains(node)) {
            line.post(new Input.Dismissed());
        }
    }

    private void troubled(L line, Unreachable why) {
        Routes known = routes;
        if (line != finder) {
            if (known != null) {
                dismissStranger(line, known);
            }
            // All members may have moved while this one was not looking.
            if (world.now() - foundAt > FIND_AGAIN_NANOS) {
                find();
            }
            return;
        }
        if (known == null) {
            trouble = why.why();
        }
        lobby.trouble(why);
        refusals = why.final_() ? refusals + 1 : 0;
        if (refusals >= addresses) {
            lobby.refuse(why.why());
        }
    }

    // What users ask

    private void enter(Input.Command command) {
        if (command.call() instanceof LockCall.Withdraw withdraw) {
            withdraw(command, withdraw.request());
            return;
        }
        Routes known = routes;
        if (known == null) {
            lobby.add(command, world.now());
            UnroutedRequests.patience(command).ifPresent(after -> world.after(after, () -> lobby.expire(command)));
        } else if (command.call() instanceof LockCall.ListNames question) {
            survey(command.key(), question, known);
        } else {
            lead(command, known);
        }
    }

    private void withdraw(Input.Command command, long request) {
        Away away = sentAway.remove(request);
        if (away != null) {
            tellWithdrawn(away.key(), away.call());
        }
        if (away != null || lobby.withdraw(request)) {
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
            ShardId authority = each.authority(world.route(command.key()));
            L line = asked.add(authority) ? lines.get(authority) : null;
            if (line != null) {
                line.post(command);
            }
        }
    }

    // What the cells tell

    /** What that line's cell tells its user. */
    public void heard(L line, Notice notice) {
        String server = line.server();
        if (notice instanceof LockNotice.Misdirected away && away.call() != null) {
            corrected(line);
            askAgain(away.key(), away.call());
        } else if (notice instanceof LockNotice.Trouble said) {
            String why = server + " does not serve: " + said.why();
            world.tell(line, new LockNotice.Trouble(said.key(), said.request(), why, said.user()));
        } else if (notice instanceof LockNotice.Failed failed) {
            String why = server + ": " + failed.why();
            if (!surveyFailed(line, failed.request(), why)) {
                world.tell(
                        line,
                        new LockNotice.Failed(failed.key(), failed.request(), why, failed.lasting(), failed.user()));
            }
        } else if (notice instanceof LockNotice.Misdirected away
                && surveyFailed(line, away.request(), server + " is no member any more; ask again")) {
            corrected(line);
        } else if (notice instanceof LockNotice.Told told && told.answer() instanceof LockMessage.Page page) {
            surveyed(line, page);
        } else {
            world.tell(line, notice);
            line.opening().why(notice, server, world.now()).ifPresent(why -> world.tell(line, why));
        }
    }

    /** Whoever sends a request away knows another list, whatever another member said last. */
    private void corrected(L line) {
        WelcomeInfo said = line.greeting();
        Routes known = routes;
        if (said != null && known != null && known.members().members().contains(NodeId.parse(said.node()))) {
            learn(Routes.of(said));
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
        List<ShardId> all = by.all();
        long number = ++lastSurvey;
        surveys.put(number, new MergedPage(key, question, all.size()));
        for (ShardId authority : all) {
            // Half of the time, so that some is left to ask for the names that the others have told.
            LockCall.ListNames each = new LockCall.ListNames(
                    number, question.prefix(), question.after(), question.max(), question.limit() / 2);
            line(authority).post(new Input.Command(key, each));
        }
    }

    private void surveyed(L line, LockMessage.Page page) {
        MergedPage survey = surveys.get(page.request());
        if (survey != null) {
            survey.add(page);
            surveyed(line, page.request(), survey);
        }
    }

    private void surveyed(L line, long number, MergedPage survey) {
        if (survey.complete()) {
            surveys.remove(number);
            world.tell(line, survey.result());
        }
    }

    /** True if that number was a question of a survey. */
    private boolean surveyFailed(L line, long number, String why) {
        if (number <= FIRST_SURVEY || number > lastSurvey) {
            return false;
        }
        MergedPage survey = surveys.get(number);
        if (survey != null) {
            survey.silent(why);
            surveyed(line, number, survey);
        }
        return true;
    }
}
