// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockName;
import io.keyway.lock.group.GroupCallException.Reason;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A group as one of its processes knows it.
 *
 * <p><b>States.</b> <i>Leading</i>: this process leads, and others follow it, each over a link. <i>Following</i>: it
 * has a link to whoever leads. <i>Seeking</i>: somebody leads, as the store says, and a thread looks where and dials;
 * again and again. <i>Alone</i>: nobody leads.
 *
 * <p><b>Messages</b> ({@link Frame}) to the leader: CALL, CAST, REPLY, TAKEN. From the leader: STATE first, ANSWER,
 * FAILED, NOT_LEADING, ASK, TELL, and HANDED last, if it gives up.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>One thread does all that is done here, and calls the member.
 *   <li>The token of the one that is followed never falls: who has heard of a later leader takes nothing from an
 *       earlier one.
 *   <li>A call is carried out only while the lease of the leader is believed in, as asked at that moment. One that was
 *       not is kept by its caller for the next leader; one that was sent and has no answer when the link ends may have
 *       been carried out, and is never sent again.
 *   <li>What a leader has handed on goes to the leader of the very next token that is heard of.
 * </ul>
 */
final class Group {
    private static final Logger LOG = System.getLogger(Group.class.getName());
    /** Between the first two attempts to reach the leader; each time twice as long, up to the last. */
    private static final Duration AGAIN = Duration.ofMillis(200);

    private static final Duration AGAIN_LAST = Duration.ofSeconds(5);
    /** After so many attempts, and after as many more each time, a warning is logged. */
    private static final int ATTEMPTS = 8;

    /** Finds the leader and dials; on a thread of its own. */
    interface Search {
        /** The link to the leader, which has been greeted. */
        Found find() throws Exception;
    }

    /** A link to the leader of that name and token. */
    record Found(Link link, String leader, long token) {}

    private record Follower(String name, boolean candidate) {}

    /** A call or a cast, until it is over. */
    private static final class Call {
        final byte[] request;
        final boolean isCast;
        final CompletableFuture<byte[]> answer = new CompletableFuture<>();
        long number;

        Call(byte[] request, boolean isCast) {
            this.request = request;
            this.isCast = isCast;
        }
    }

    /** What the leader asks, until all have answered or the time is up. */
    private record Question(Set<Link> asked, Map<String, byte[]> answers, CompletableFuture<Map<String, byte[]>> all) {}

    private final LockName election;
    private final String title;
    private final String name;
    private final GroupMember member;
    private final int longest;
    private final Search search;
    private final ScheduledThreadPoolExecutor thread;
    private final BooleanSupplier believes;

    private final Map<Link, Follower> followers = new LinkedHashMap<>();
    private final Deque<Call> kept = new ArrayDeque<>();
    private final Map<Long, Call> sent = new HashMap<>();
    private final Map<Long, Question> questions = new HashMap<>();
    private long numbers;
    /** The token by which this process leads; 0 while it does not. */
    private long leading;
    /** Who leads, as the store says or it has said itself; empty if nobody does. */
    private String leader = "";

    private long leaderToken;
    private @Nullable Link link;
    private boolean seeking;
    /** How many attempts to follow the leader have failed in a row. */
    private int attempts;
    /** The next attempt. */
    private @Nullable ScheduledFuture<?> again;
    /** The highest token of a leader that it has heard of. */
    private long highest;

    private byte @Nullable [] handed;
    private long handedBy;
    /** While a leader gives up: whose word is missing that it has the state, and what happens then. */
    private final Set<Link> untaken = new HashSet<>();

    private @Nullable Runnable givenUp;
    /** What was heard of a later leader while this process led; its own end is told apart. */
    private @Nullable Runnable noticed;

    private boolean closed;

    /** {@code believes} is whether this process leads at this moment, by its lease. */
    Group(
            LockName election,
            String title,
            String name,
            GroupMember member,
            int longest,
            BooleanSupplier believes,
            Search search) {
        this.election = election;
        this.title = title;
        this.name = name;
        this.member = member;
        this.longest = longest;
        this.believes = believes;
        this.search = search;
        this.thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, title);
            made.setDaemon(true);
            return made;
        });
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(true); // or what was posted last would be forgotten
    }

    /** Does that on the thread of the group; nothing once it is closed. */
    void post(Runnable step) {
        post(step, () -> {});
    }

    /** Does one of these: the second one if the group is closed. */
    void post(Runnable step, Runnable ifClosed) {
        try {
            thread.execute(() -> run(closed ? ifClosed : step));
        } catch (RejectedExecutionException e) {
            ifClosed.run();
        }
    }

    /** By the thread of the group. */
    private ScheduledFuture<?> after(Duration time, Runnable step) {
        // A time of ages is the longest that the thread can wait.
        return thread.schedule(() -> run(step), TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
    }

    private void fail(Call call, Reason reason, boolean mayBeDone, String why) {
        call.answer.completeExceptionally(new GroupCallException(reason, mayBeDone, why, election));
    }

    private void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            // Also an Error, of which nobody else would hear.
            LOG.log(Level.WARNING, title + ": a callback of the member, or what waits for an answer, has failed", e);
        }
    }

    /** What comes over that link is heard by the thread of the group; a member that is slow is sent no more. */
    private void run(Link over, Consumer<Frame> hears) {
        Link.Hearer hearer = (frame, done) -> post(
                () -> {
                    try {
                        hears.accept(frame);
                    } finally {
                        done.run();
                    }
                },
                done);
        over.run(title, hearer, () -> post(() -> ended(over)));
    }

    // The election

    /** This process leads, by its lease. */
    void elected(long token) {
        forgetLeader(name, token);
        long before = highest;
        highest = Math.max(highest, token);
        leading = token;
        byte[] state = handedBy == before && before != 0 ? handed : null;
        handed = null;
        LOG.log(Level.DEBUG, () -> title + ": this process leads, token " + token);
        run(() -> member.elected(token, Optional.ofNullable(state)));
        List<Call> waiting = List.copyOf(kept);
        kept.clear();
        waiting.forEach(this::carryOut);
    }

    /**
     * This process gives the leadership up; nothing happens if it does not lead.
     *
     * @param limit how long it may take until the others have its state
     * @param done run when they have, or the time is up
     */
    void surrendered(Duration limit, Runnable done) {
        if (leading == 0) {
            done.run();
            return;
        }
        long token = leading;
        leading = 0;
        leader = "";
        byte[] state = new byte[0];
        try {
            state = Objects.requireNonNull(member.surrendered(), "surrendered() has returned null");
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, title + ": the member hands nothing on", e);
        }
        givenUp = done;
        untaken.addAll(followers.keySet());
        for (Link each : followers.keySet()) {
            if (state.length <= longest) {
                each.send(new Frame(Frame.Kind.HANDED, token, state));
            }
        }
        ScheduledFuture<?> unused = after(limit, () -> {
            if (givenUp == done) {
                leaveFollowers();
            }
        });
        if (untaken.isEmpty() || state.length > longest) {
            leaveFollowers();
        }
    }

    /** This process has lost the leadership. */
    void deposed(LeaseLoss loss) {
        if (leading != 0) {
            leading = 0;
            leader = "";
            leaveFollowers();
            run(() -> member.deposed(loss));
        }
    }

    /** It leads no more, and nobody follows it. */
    private void leaveFollowers() {
        untaken.clear();
        List<Link> all = List.copyOf(followers.keySet());
        followers.clear();
        all.forEach(Link::close);
        questions.values().forEach(each -> each.all().complete(each.answers()));
        questions.clear();
        Runnable done = givenUp;
        givenUp = null;
        if (done != null) {
            done.run();
        }
        Runnable next = noticed;
        noticed = null;
        if (next != null) {
            next.run();
        }
    }

    /** Another process leads, as the store says; 0 if it shows no token. */
    void observed(String who, long token) {
        if (who.equals(name) || (token != 0 && token < highest)) {
            return;
        }
        if (leading != 0) {
            noticed = () -> observed(who, token);
            return;
        }
        if (!who.equals(leader) || token != leaderToken) {
            forgetLeader(who, token);
        }
        highest = Math.max(highest, token);
        seek();
    }

    /** Nobody leads, or another one than that, as the store says. */
    void observedEnd(String who) {
        if (who.equals(leader) && leading == 0) {
            forgetLeader("", 0);
        }
    }

    private void forgetLeader(String next, long token) {
        Link former = link;
        String whom = leader;
        link = null;
        leader = next;
        leaderToken = token;
        attempts = 0;
        if (former != null) {
            former.close();
            loseLink(whom);
        }
    }

    // Following

    private void seek() {
        if (closed || seeking || leading != 0 || link != null || leader.isEmpty()) {
            return;
        }
        seeking = true;
        try {
            Link.start(title + "-seeks", this::search);
        } catch (Error e) { // of a system that has no more threads
            notFound(e);
        }
    }

    private void search() {
        try {
            Found found = search.find();
            post(() -> found(found), found.link()::close);
        } catch (InterruptedException e) {
            post(() -> seeking = false);
        } catch (ClientClosedException e) {
            post(() -> leader = ""); // nobody is found any more
        } catch (Exception | Error e) {
            post(() -> notFound(e));
        }
    }

    private void notFound(Throwable why) {
        seeking = false;
        seekLater();
        String text = title + ": the leader " + leader + " is not reached: " + Text.of(why);
        if (attempts % ATTEMPTS == 0) {
            LOG.log(
                    Level.WARNING,
                    text + ". It was tried " + attempts + " times, and is tried again each "
                            + AGAIN_LAST.toSeconds() + " s. Is its address one that can be reached from here, and has"
                            + " it the same secret and kind of sockets (GroupOptions)?");
        } else {
            LOG.log(Level.DEBUG, text);
        }
    }

    /** An attempt has failed, or its link has ended. */
    private void seekLater() {
        Duration pause = AGAIN;
        for (int i = 0; i < attempts && pause.compareTo(AGAIN_LAST) < 0; i++) {
            pause = pause.multipliedBy(2);
        }
        attempts++;
        seekAfter(pause.compareTo(AGAIN_LAST) < 0 ? pause : AGAIN_LAST);
    }

    /** Somebody waits for the leader. */
    private void seekSoon() {
        ScheduledFuture<?> next = again;
        if (next == null || next.isDone()) {
            seek();
        } else if (next.getDelay(TimeUnit.NANOSECONDS) > AGAIN.toNanos()) {
            seekAfter(AGAIN);
        }
    }

    private void seekAfter(Duration pause) {
        ScheduledFuture<?> former = again;
        if (former != null) {
            former.cancel(false);
        }
        again = after(pause, this::seek);
    }

    private void found(Found found) {
        seeking = false;
        if (leading != 0 || link != null || found.token() < highest) {
            found.link().close();
            seekLater();
            return;
        }
        Link next = found.link();
        link = next;
        leader = found.leader();
        leaderToken = found.token();
        highest = found.token();
        run(next, frame -> ofLeader(next, frame));
        List<Call> waiting = List.copyOf(kept);
        kept.clear();
        waiting.forEach(call -> send(next, call));
    }

    private void ended(Link over) {
        if (over == link) {
            String whom = leader;
            link = null;
            loseLink(whom);
            seekLater();
        } else if (followers.remove(over) != null) {
            List.copyOf(questions.values()).forEach(each -> left(each, over));
            taken(over);
        }
    }

    private void loseLink(String whom) {
        List<Call> all = new ArrayList<>(sent.values());
        sent.clear();
        all.forEach(call -> fail(
                call,
                Reason.LEADER_DIED,
                true,
                "the leader " + whom + " is gone; whether it carried the call out is not known"));
        run(() -> member.leaderGone(whom));
    }

    private void ofLeader(Link from, Frame frame) {
        if (from != link) {
            return;
        }
        switch (frame.kind()) {
            case STATE -> {
                attempts = 0;
                run(() -> member.following(leader, frame.number(), frame.content()));
            }
            case ANSWER -> answered(frame, call -> call.answer.complete(frame.content()));
            case FAILED ->
                answered(
                        frame,
                        call -> fail(
                                call, Reason.FAILED, true, leader + " could not answer: " + Text.of(frame.content())));
            case NOT_LEADING -> answered(frame, kept::add);
            case ASK ->
                from.send(new Frame(Frame.Kind.REPLY, frame.number(), fitting(member.asked(leader, frame.content()))));
            case TELL -> run(() -> member.told(leader, frame.content()));
            case HANDED -> {
                handed = frame.content();
                handedBy = frame.number();
                from.send(Frame.of(Frame.Kind.TAKEN, frame.number()));
            }
            default -> from.close();
        }
    }

    private void answered(Frame frame, Consumer<Call> then) {
        Call call = sent.remove(frame.number());
        if (call != null) {
            then.accept(call);
        }
    }

    private byte[] fitting(byte[] content) {
        if (content.length > longest) {
            throw new IllegalStateException(
                    "what the member says has " + content.length + " bytes, and " + longest + " are allowed");
        }
        return content;
    }

    // Leading

    /** Somebody wants to follow, and has proved itself. */
    void joined(Link from, Greeting.Hello hello) {
        if (!leads()) {
            Link.start(title + "-refuses", () -> Entrance.refuse(from, name + " does not lead"));
            return;
        }
        followers.put(from, new Follower(hello.name(), hello.candidate()));
        run(from, frame -> ofFollower(from, frame));
        from.send(new Frame(Frame.Kind.WELCOME, leading, hello.proof()));
        try {
            from.send(new Frame(Frame.Kind.STATE, leading, fitting(member.state())));
        } catch (RuntimeException | Error e) {
            from.close();
            throw e;
        }
    }

    private void ofFollower(Link from, Frame frame) {
        Follower who = followers.get(from);
        if (who == null) {
            return;
        }
        switch (frame.kind()) {
            case CALL -> from.send(answer(who.name(), frame));
            case CAST -> {
                if (leads()) {
                    run(() -> member.cast(who.name(), frame.content()));
                }
            }
            case REPLY -> {
                Question question = questions.get(frame.number());
                if (question != null && question.asked().contains(from)) {
                    question.answers().put(who.name(), frame.content());
                    left(question, from);
                }
            }
            case TAKEN -> taken(from);
            default -> from.close();
        }
    }

    private boolean leads() {
        return leading != 0 && believes.getAsBoolean();
    }

    private Frame answer(String who, Frame call) {
        if (!leads()) {
            return Frame.of(Frame.Kind.NOT_LEADING, call.number());
        }
        try {
            return new Frame(Frame.Kind.ANSWER, call.number(), fitting(member.called(who, call.content())));
        } catch (Exception | Error e) {
            if (e instanceof Error) {
                LOG.log(Level.WARNING, title + ": the member has failed to answer a call of " + who, e);
            }
            byte[] why = Text.bytes(Text.of(e));
            return new Frame(Frame.Kind.FAILED, call.number(), Arrays.copyOf(why, Math.min(why.length, longest)));
        }
    }

    private void taken(Link by) {
        if (untaken.remove(by) && untaken.isEmpty()) {
            leaveFollowers();
        }
    }

    private void left(Question question, Link by) {
        if (question.asked().remove(by) && question.asked().isEmpty()) {
            questions.values().remove(question);
            question.all().complete(question.answers());
        }
    }

    // What its user says

    /** A call, or a cast, which is over when it has gone out. */
    CompletableFuture<byte[]> say(byte[] request, boolean isCast, Duration limit) {
        Call call = new Call(request.clone(), isCast);
        post(
                () -> {
                    if (leads()) {
                        carryOut(call);
                    } else if (link != null) {
                        send(link, call);
                    } else {
                        kept.add(call);
                        seekSoon();
                    }
                    if (!call.answer.isDone()) {
                        ScheduledFuture<?> timer = after(limit, () -> expire(call, limit));
                        CompletionStage<byte[]> answer = call.answer;
                        answer.whenComplete((bytes, failure) -> timer.cancel(false));
                    }
                },
                () -> fail(call, Reason.CLOSED, false, "the group " + title + " is closed"));
        return call.answer;
    }

    private void expire(Call call, Duration limit) {
        if (call.answer.isDone()) {
            return;
        }
        if (kept.remove(call)) {
            fail(call, Reason.NO_LEADER, false, "nobody led, or was reached, within " + limit);
        } else if (sent.remove(call.number) != null) {
            fail(call, Reason.NO_ANSWER, true, leader + " has not answered within " + limit);
        }
    }

    private void send(Link to, Call call) {
        call.number = ++numbers;
        if (call.isCast) {
            to.send(new Frame(Frame.Kind.CAST, 0, call.request));
            call.answer.complete(new byte[0]);
        } else {
            sent.put(call.number, call);
            to.send(new Frame(Frame.Kind.CALL, call.number, call.request));
        }
    }

    /** By the leader itself. */
    private void carryOut(Call call) {
        if (call.isCast) {
            run(() -> member.cast(name, call.request));
            call.answer.complete(new byte[0]);
            return;
        }
        Frame frame = answer(name, new Frame(Frame.Kind.CALL, 0, call.request));
        switch (frame.kind()) {
            case ANSWER -> call.answer.complete(frame.content());
            case FAILED -> fail(call, Reason.FAILED, true, name + " could not answer: " + Text.of(frame.content()));
            default -> kept.add(call);
        }
    }

    CompletableFuture<Map<String, byte[]>> ask(byte[] question, Duration limit) {
        CompletableFuture<Map<String, byte[]>> all = new CompletableFuture<>();
        byte[] asked = question.clone();
        post(
                () -> {
                    if (!leads()) {
                        all.completeExceptionally(doesNotLead());
                        return;
                    }
                    long number = ++numbers;
                    Question open = new Question(new HashSet<>(), new LinkedHashMap<>(), all);
                    followers.forEach((each, who) -> {
                        if (who.candidate()) {
                            open.asked().add(each);
                            each.send(new Frame(Frame.Kind.ASK, number, asked));
                        }
                    });
                    if (open.asked().isEmpty()) {
                        all.complete(open.answers());
                        return;
                    }
                    questions.put(number, open);
                    ScheduledFuture<?> timer = after(limit, () -> {
                        questions.remove(number);
                        all.complete(open.answers());
                    });
                    CompletionStage<Map<String, byte[]>> answers = all;
                    answers.whenComplete((each, failure) -> timer.cancel(false));
                },
                () -> all.completeExceptionally(doesNotLead()));
        return all;
    }

    CompletableFuture<Boolean> broadcast(byte[] message, boolean observersToo) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        byte[] said = message.clone();
        post(
                () -> {
                    if (!leads()) {
                        done.completeExceptionally(doesNotLead());
                        return;
                    }
                    followers.forEach((each, who) -> {
                        if (observersToo || who.candidate()) {
                            each.send(new Frame(Frame.Kind.TELL, 0, said));
                        }
                    });
                    done.complete(true);
                },
                () -> done.completeExceptionally(doesNotLead()));
        return done;
    }

    private IllegalStateException doesNotLead() {
        return new IllegalStateException(name + " does not lead, and only the leader sends to all members: " + title);
    }

    /** Ends all, whatever waits. */
    void close() {
        post(() -> {
            if (leading != 0) {
                leading = 0; // its own end was on the way
                run(member::surrendered);
            }
            closed = true;
            noticed = null;
            leaveFollowers();
            Link former = link;
            link = null;
            if (former != null) {
                former.close();
            }
            List<Call> all = new ArrayList<>(kept);
            all.forEach(call -> fail(call, Reason.CLOSED, false, "the group " + title + " was closed"));
            sent.values().forEach(call -> fail(call, Reason.CLOSED, true, "the group " + title + " was closed"));
            kept.clear();
            sent.clear();
            thread.shutdown();
        });
    }
}
