// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One member's cell and some clients' on one manual clock. Links keep every frame, in order; a script may delay or hold
 * them. After each input it is checked that no two clients believe in one lock, that tokens rise, and that each request
 * and each grant ends once for its user.
 */
final class LeaseWorld {
    static final long MS = 1_000_000;
    static final long TTL = 8_000 * MS;

    private final Supplier<MachineFactory> clients;
    private final MachineFactory members;
    private final long quarantine;
    private final List<Client> all = new ArrayList<>();
    private final TreeMap<Long, ArrayDeque<Runnable>> agenda = new TreeMap<>();
    private final Map<String, Long> lastToken = new HashMap<>();
    final List<String> trace = new ArrayList<>();
    final List<String> violations = new ArrayList<>();
    final List<Notice> memberNotices = new ArrayList<>();
    final Set<CoverageGoal> goals = new LinkedHashSet<>();
    private PlainMember sessions;
    private Cell member;
    private long now = 1_000_000 * MS;
    private long links;
    private long epoch = 7;
    private long life;
    private boolean quiet;

    LeaseWorld(LockSettings settings) {
        this(
                new LeaseAlgorithm(settings).memberMachines(all -> true),
                () -> new LeaseAlgorithm(settings).clientMachines());
    }

    LeaseWorld(MachineFactory members, Supplier<MachineFactory> clients) {
        this.members = members;
        this.clients = clients;
        this.quarantine = TTL * 4;
        sessions = new PlainMember(epoch, Turn.NEVER, quarantine);
        member = new Cell(members, sessions);
    }

    static LeaseWorld of(int clients) {
        LeaseWorld world = new LeaseWorld(LockSettings.defaults());
        for (int i = 0; i < clients; i++) {
            world.client();
        }
        return world;
    }

    Client client() {
        Client client = new Client("c" + all.size(), clients.get());
        all.add(client);
        client.open();
        return client;
    }

    Client client(int i) {
        return all.get(i);
    }

    long now() {
        return now;
    }

    /** How long a member that restarts grants nothing. */
    long quarantine() {
        return quarantine;
    }

    /** Keeps no trace any more and forgets what is kept for checks, for scripts of millions of steps. */
    void forget() {
        quiet = true;
        trace.clear();
        lastToken.clear();
        all.forEach(client -> client.names.clear());
    }

    Cell member() {
        return member;
    }

    PlainMember memberSessions() {
        return sessions;
    }

    @Nullable
    LockManager manager(String name) {
        return (LockManager) member.machine(LeaseKeys.lock(name));
    }

    // Time

    private void at(long time, Runnable what) {
        agenda.computeIfAbsent(time, t -> new ArrayDeque<>()).add(what);
    }

    /** Runs everything that happens within that time. */
    void advance(long nanos) {
        long end = now + nanos;
        for (long next = next(); next <= end; next = next()) {
            now = Math.max(now, next);
            Map.Entry<Long, ArrayDeque<Runnable>> due = agenda.firstEntry();
            if (due != null && due.getKey() <= now) {
                Runnable first = due.getValue().poll();
                if (due.getValue().isEmpty()) {
                    agenda.remove(due.getKey());
                }
                if (first != null) {
                    first.run();
                }
            } else {
                tick();
            }
        }
        now = end;
    }

    /** Delivers what can arrive without time passing. */
    LeaseWorld settle() {
        advance(0);
        return this;
    }

    private long next() {
        long next = agenda.isEmpty() ? Turn.NEVER : agenda.firstKey();
        next = Math.min(next, member.nextDue());
        for (Client client : all) {
            next = Math.min(next, client.paused ? Turn.NEVER : client.cell.nextDue());
        }
        return next;
    }

    private void tick() {
        if (member.nextDue() <= now) {
            toMember(new Input.Tick());
        }
        for (Client client : all) {
            if (!client.paused && client.cell.nextDue() <= now) {
                client.input(new Input.Tick());
            }
        }
    }

    // The member

    private void toMember(Input input) {
        MemberDriver driver = new MemberDriver(life);
        member.input(input, driver);
        member.flush(driver);
        check();
    }

    void command(String name, Call call) {
        toMember(new Input.Command(LeaseKeys.lock(name), call));
    }

    void sessionEnds(Client client) {
        toMember(new Input.Died(client.link));
    }

    /** The member is killed and starts again with a higher epoch; clients reconnect at once. */
    void restart(boolean quarantined) {
        restart(quarantined ? now + quarantine : Turn.NEVER);
    }

    void restart(long opens) {
        restart(opens, () -> {});
    }

    /** {@code imports} runs before any client is back. */
    void restart(long opens, Runnable imports) {
        life++;
        sessions = new PlainMember(++epoch, opens, quarantine);
        member = new Cell(members, sessions);
        imports.run();
        List<Client> connected = all.stream().filter(client -> !client.isolated).toList();
        connected.forEach(client -> client.lose(true));
        connected.forEach(Client::open);
    }

    private final class MemberDriver extends WorldDriver {
        private final long of;

        MemberDriver(long of) {
            super(() -> now, goals);
            this.of = of;
        }

        @Override
        public void transmit(long link, Frame frame) {
            for (Client client : all) {
                if (client.link == link && of == life) {
                    log("m", client.name, frame);
                    client.toClient.send(frame);
                }
            }
        }

        @Override
        public void deliver(Notice notice) {
            memberNotices.add(notice);
        }
    }

    private void log(String from, String to, Frame frame) {
        if (quiet) {
            return;
        }
        for (Message message : ((PlainFrame) frame).messages()) {
            trace.add(from + ">" + to + " " + message.getClass().getSimpleName());
        }
    }

    /** The messages since the last call, without their fields. */
    String traced() {
        String text = String.join(", ", trace);
        trace.clear();
        return text;
    }

    private void check() {
        Map<String, String> believers = new HashMap<>();
        for (Client client : all) {
            for (Grant grant : client.held.values()) {
                if (grant.handle.holds(grant.token, now)) {
                    String before = believers.put(grant.name, client.name);
                    if (before != null) {
                        violations.add("at " + now / MS + " ms " + before + " and " + client.name + " believe in "
                                + grant.name);
                    }
                }
            }
        }
    }

    /** What a user holds. */
    record Grant(
            String name,
            long token,
            GrantHandle handle,
            @Nullable Object user) {}

    /** One direction of a link. */
    private final class Link {
        private final java.util.function.Consumer<Frame> to;
        private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
        private long delay;
        private boolean held;

        Link(java.util.function.Consumer<Frame> to) {
            this.to = to;
        }

        void send(Frame frame) {
            waiting.add(frame);
            at(now + delay, this::deliver);
        }

        private void deliver() {
            if (!held && !waiting.isEmpty()) {
                to.accept(waiting.poll());
            }
        }

        void hold(boolean flag) {
            held = flag;
            if (!flag) {
                for (int i = waiting.size(); i > 0; i--) {
                    at(now + delay, this::deliver);
                }
            }
        }
    }

    /** A client, its users, and what they were told. */
    final class Client extends WorldDriver {
        final String name;
        final Cell cell;
        final PlainClient session = new PlainClient();
        final List<LockNotice> notices = new ArrayList<>();
        final Map<String, Grant> held = new LinkedHashMap<>();
        private final Map<String, Grant> releasing = new LinkedHashMap<>();
        private final Set<Long> open = new LinkedHashSet<>();
        private final Map<Long, String> names = new HashMap<>();
        private Link toMember = new Link(frame -> {});
        private Link toClient = new Link(frame -> {});
        private boolean paused;
        private boolean isolated;
        private long link;
        private long requests;

        Client(String name, MachineFactory algorithm) {
            super(() -> now, goals);
            this.name = name;
            this.cell = new Cell(algorithm, session);
        }

        /** Its link is cut, and it is not told; until it loses its session or opens another. */
        void isolate() {
            isolated = true;
            toMember.hold(true);
            toClient.hold(true);
        }

        void open() {
            isolated = false;
            long opened = ++links;
            link = opened;
            Link before = toMember;
            Link beforeBack = toClient;
            toMember = new Link(frame -> LeaseWorld.this.toMember(new Input.Arrived(opened, frame)));
            toClient = new Link(frame -> input(new Input.Arrived(opened, frame)));
            toMember.delay = before.delay;
            toClient.delay = beforeBack.delay;
            LeaseWorld.this.toMember(new Input.Opened(opened));
            input(new Input.Opened(opened));
        }

        /** The client learns that its session is over. */
        void lose(boolean restarted) {
            long was = link;
            link = 0;
            input(new Input.Closed(was, restarted ? "restarted" : "unknown session"));
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
            check();
        }

        /** Something that its helper would not say. */
        void sendRaw(LockMessage message) {
            LeaseWorld.this.toMember(new Input.Arrived(link, new PlainFrame(link, now, 0, List.of(message))));
        }

        void claim(String lock, long token) {
            sendRaw(new LockMessage.Reassert(key(lock), 0, token, token, token, LockMode.EXCLUSIVE, 1, TTL, owner()));
        }

        void call(String lock, Call call) {
            input(new Input.Command(LeaseKeys.lock(lock), call));
        }

        void delay(long toMemberNanos, long toClientNanos) {
            toMember.delay = toMemberNanos;
            toClient.delay = toClientNanos;
        }

        void holdToMember(boolean flag) {
            toMember.hold(flag);
        }

        void holdToClient(boolean flag) {
            toClient.hold(flag);
        }

        void pause(boolean flag) {
            paused = flag;
            holdToClient(flag);
        }

        @Nullable
        LockClientHelper helper(String lock) {
            return (LockClientHelper) cell.machine(LeaseKeys.lock(lock));
        }

        LockClientHelper.Phase phase(String lock) {
            LockClientHelper helper = helper(lock);
            return helper == null ? LockClientHelper.Phase.REST : helper.phase();
        }

        // What its users do

        Owner owner() {
            return new Owner(name, Map.of());
        }

        long acquire(String lock) {
            return acquire(lock, TTL);
        }

        long acquire(String lock, long ttl) {
            return ask(lock, ttl, true);
        }

        long tryAcquire(String lock) {
            return ask(lock, TTL, false);
        }

        private long ask(String lock, long ttl, boolean queue) {
            LockCall.Acquire call = request(lock, ttl, queue);
            call(lock, call);
            return call.request();
        }

        /** Asks for the lock, and wants to hear where it stands if it has to wait. */
        long acquireWithPlace(String lock) {
            LockCall.Acquire call = request(lock, TTL, true);
            call(
                    lock,
                    new LockCall.Acquire(
                            call.request(),
                            call.mode(),
                            call.permits(),
                            call.capacity(),
                            call.ttl(),
                            call.owner(),
                            true,
                            true,
                            call.patience(),
                            call.waited(),
                            call.user()));
            return call.request();
        }

        /** What those who waited were told, in order: the request, and how many are ahead of it. */
        List<String> places() {
            return notices.stream()
                    .filter(LockNotice.Waiting.class::isInstance)
                    .map(LockNotice.Waiting.class::cast)
                    .map(waiting -> waiting.request() + ":" + waiting.ahead())
                    .toList();
        }

        /** Asks for a lock that is to be held at least for that time. */
        long acquireAtLeast(String lock, long atLeast) {
            LockCall.Acquire call = request(lock, TTL, true, atLeast);
            call(lock, call);
            return call.request();
        }

        private LockCall.Acquire request(String lock, long ttl, boolean queue) {
            return request(lock, ttl, queue, 0);
        }

        private LockCall.Acquire request(String lock, long ttl, boolean queue, long atLeast) {
            long request = ++requests;
            open.add(request);
            names.put(request, lock);
            String user = name + "#" + request;
            return new LockCall.Acquire(
                    request,
                    LockMode.EXCLUSIVE,
                    1,
                    1,
                    1,
                    ttl,
                    owner(),
                    queue,
                    false,
                    500 * MS,
                    atLeast,
                    0,
                    0,
                    LockMessage.Acquire.IN_THE_QUEUE,
                    user);
        }

        /** One of a batch; nothing is sent before {@link #flush}. */
        void acquireLater(String lock) {
            cell.input(new Input.Command(key(lock), request(lock, TTL, true)), this);
        }

        void releaseLater(String lock) {
            Grant grant = Objects.requireNonNull(held.remove(lock));
            releasing.put(lock, grant);
            cell.input(new Input.Command(key(lock), new LockCall.Release(grant.token)), this);
        }

        void flush() {
            cell.flush(this);
        }

        void withdraw(long request) {
            call(String.valueOf(names.get(request)), new LockCall.Withdraw(request));
        }

        /** As an engine does: the fast path first. The token, or 0. */
        long reuse(String lock) {
            LockClientHelper helper = helper(lock);
            GrantHandle handle = helper == null ? null : helper.handle();
            if (handle == null) {
                return 0;
            }
            String user = name + "#fast" + ++requests;
            long token = handle.tryReuse(LockMode.EXCLUSIVE, 1, TTL, owner(), user, now);
            if (token != 0) {
                begin(lock, handle, token, user);
            }
            return token;
        }

        /** Releases as an engine does: without the cell if it can be. True if so. */
        boolean release(String lock) {
            Grant grant = held.remove(lock);
            if (grant == null) {
                throw new IllegalStateException(name + " does not hold " + lock);
            }
            if (grant.handle.tryRelease(grant.token, now)) {
                return true;
            }
            releasing.put(lock, grant);
            call(lock, new LockCall.Release(grant.token));
            return false;
        }

        /** The grant has reached nobody. */
        void abandon(String lock) {
            Grant grant = Objects.requireNonNull(held.remove(lock));
            releasing.put(lock, grant);
            call(lock, new LockCall.Release(grant.token, true));
        }

        /** The token that this client believes in; 0 if none. */
        long believes(String lock) {
            Grant grant = held.get(lock);
            return grant != null && grant.handle.holds(grant.token, now) ? grant.token : 0;
        }

        private void begin(String lock, GrantHandle handle, long token, @Nullable Object user) {
            if (held.put(lock, new Grant(lock, token, handle, user)) != null) {
                violations.add(name + " got " + lock + " twice");
            }
            Long before = lastToken.put(lock, token);
            if (before != null && before >= token) {
                violations.add(name + " got token " + token + " of " + lock + " after " + before);
            }
        }

        // What they are told

        @Override
        public void deliver(Notice notice) {
            LockNotice told = (LockNotice) notice;
            notices.add(told);
            if (told instanceof LockNotice.Granted granted) {
                ends(granted.request(), granted.user());
                begin(granted.key().id(), granted.handle(), granted.token(), granted.user());
            } else if (told instanceof LockNotice.Refused refused) {
                ends(refused.request(), refused.user());
            } else if (told instanceof LockNotice.Failed failed && failed.user() != null) {
                ends(failed.request(), failed.user());
            } else if (told instanceof LockNotice.Withdrawn withdrawn) {
                ends(withdrawn.request(), withdrawn.user());
            } else if (told instanceof LockNotice.ReleaseDone done) {
                released(done);
            } else if (told instanceof LockNotice.Ended ended) {
                // A release may have begun when the end was not known yet; it is answered all the same.
                Grant grant = held.remove(ended.key().id());
                grant = grant == null ? releasing.get(ended.key().id()) : grant;
                if (grant == null || grant.token != ended.token() || grant.user != ended.user()) {
                    violations.add(name + " was told the end of token " + ended.token() + " which it did not hold");
                }
            }
        }

        private void released(LockNotice.ReleaseDone done) {
            Grant grant = releasing.remove(done.key().id());
            boolean lostBefore = done.answer() == Answer.NOT_HELD;
            if (!lostBefore && (grant == null || grant.token != done.token())) {
                violations.add(name + " was told of a release that it did not ask for: " + done);
            }
        }

        private void ends(long request, @Nullable Object user) {
            if (!open.remove(request)) {
                violations.add(name + " was answered twice for request " + request);
            }
            if (!(name + "#" + request).equals(user)) {
                violations.add(name + " got " + user + " with the answer to request " + request);
            }
        }

        /** Requests without an answer. */
        Set<Long> unanswered() {
            return open;
        }

        /** The notices since the last call but Closed ones, without their fields. */
        String told() {
            String text = notices.stream()
                    .filter(notice -> !(notice instanceof LockNotice.Closed))
                    .map(notice -> notice.getClass().getSimpleName())
                    .collect(Collectors.joining(", "));
            notices.clear();
            return text;
        }

        <T extends LockNotice> T last(Class<T> type) {
            for (int i = notices.size() - 1; i >= 0; i--) {
                if (type.isInstance(notices.get(i))) {
                    return type.cast(notices.get(i));
                }
            }
            throw new AssertionError(name + " was told " + notices + ", no " + type.getSimpleName());
        }

        // The driver of its cell

        @Override
        public void transmit(long over, Frame frame) {
            if (over == link) {
                log(name, "m", frame);
                toMember.send(frame);
            }
        }
    }

    static Key key(String name) {
        return LeaseKeys.lock(name);
    }
}
