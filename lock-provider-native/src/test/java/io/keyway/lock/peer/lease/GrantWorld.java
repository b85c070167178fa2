// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.ClusterFollower;
import io.keyway.lock.peer.client.GrantCache;
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
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.queue.LockDirectory;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockMessage.ClusterState;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TreeModes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A member and clients that hold several grants of one name, on one manual clock. Frames arrive at once and in order,
 * but for those of a client whose link is cut. After each input it is checked that whatever is believed in may stand
 * together, that no token is given twice, that each request and each grant ends once for its user, and that a copy of
 * each cell equals it.
 */
final class GrantWorld {
    static final long MS = 1_000_000;
    static final long TTL = 8_000 * MS;
    /** What users state, unless a script says otherwise. */
    static final int CAPACITY = 3;

    static final Key KEY = new Key(9, "a");
    private static final Key CLUSTER = LockKeys.cluster(KEY.algorithm());

    /** What a user holds. */
    record Held(long request, LockMode mode, int permits, long token, GrantHandle handle) {}

    private final MachineFactory members;
    private final MachineFactory machines;
    final List<Client> clients = new ArrayList<>();
    private final Set<Long> tokens = new LinkedHashSet<>();
    final Set<CoverageGoal> goals = new LinkedHashSet<>();
    final List<LockMessage> sent = new ArrayList<>();
    final List<Notice> alarms = new ArrayList<>();
    private final ArrayDeque<Runnable> frames = new ArrayDeque<>();
    private PlainMember sessions;
    private Cell member;
    private long now = 1_000_000 * MS;
    private long epoch = 7;
    private long links;
    private long requests;
    private boolean copies = true;
    private int capacity = CAPACITY;

    GrantWorld(Admission admission, int clientCount) {
        this(admission, LockSettings.defaults(), clientCount);
    }

    /** Of clients that ask for each user at once, and keep nothing. */
    GrantWorld(Admission admission, LockSettings settings, int clientCount) {
        this(
                admission,
                settings,
                clientCount,
                key -> key.equals(CLUSTER)
                        ? new ClusterFollower(key, true)
                        : LockClientHelper.askingForEach(key, settings, CLUSTER));
    }

    /** Of clients as the lease service has them. */
    static GrantWorld ofCaches(Admission admission, LockSettings settings, int clientCount) {
        return new GrantWorld(
                admission,
                settings,
                clientCount,
                key -> key.equals(LockKeys.cache(KEY.algorithm()))
                        ? new GrantCache(settings.cacheSize())
                        : new LockClientHelper(key, settings));
    }

    private GrantWorld(Admission admission, LockSettings settings, int clientCount, MachineFactory machines) {
        this.machines = machines;
        members = key -> key.id().isEmpty() ? new LockDirectory() : new LockManager(key, settings, admission);
        sessions = new PlainMember(epoch, Turn.NEVER, 4 * TTL);
        member = new Cell(members, sessions);
        for (int i = 0; i < clientCount; i++) {
            clients.add(new Client("c" + i));
            clients.get(i).open();
        }
    }

    /** Compares no copies, for scripts of very many steps. */
    GrantWorld withoutCopies() {
        copies = false;
        return this;
    }

    /** From now on users state that capacity. */
    GrantWorld withCapacity(int permits) {
        capacity = permits;
        return this;
    }

    /** The requests of all who hold, in the order of their tokens. */
    List<Long> holders() {
        Map<Long, Long> byToken = new TreeMap<>();
        clients.forEach(client -> client.held.values().forEach(held -> byToken.put(held.token(), held.request())));
        return List.copyOf(byToken.values());
    }

    void advance(long nanos) {
        long end = now + nanos;
        for (long next = next(); next <= end; next = next()) {
            now = Math.max(now, next);
            if (member.nextDue() <= now) {
                toMember(new Input.Tick());
            }
            for (Client client : clients) {
                if (client.cell.nextDue() <= now) {
                    client.input(new Input.Tick());
                }
            }
            deliver();
        }
        now = end;
    }

    private long next() {
        long next = member.nextDue();
        for (Client client : clients) {
            next = Math.min(next, client.cell.nextDue());
        }
        return next;
    }

    private void deliver() {
        for (Runnable frame = frames.poll(); frame != null; frame = frames.poll()) {
            frame.run();
        }
    }

    private void toMember(Input input) {
        member.input(input, new MemberDriver());
        member.flush(new MemberDriver());
        checkCopy(member);
    }

    /** The member is killed and starts again; clients reconnect at once and re-assert. */
    void restart() {
        restart(() -> {});
    }

    /** {@code meanwhile} happens while no client has a session. */
    void restart(Runnable meanwhile) {
        sessions = new PlainMember(++epoch, now + 4 * TTL, 4 * TTL);
        member = new Cell(members, sessions);
        clients.forEach(client -> client.lose("restarted"));
        meanwhile.run();
        clients.forEach(Client::open);
    }

    /** That client's process is gone, and the member hears so. */
    void kill(Client client) {
        client.held.clear();
        toMember(new Input.Died(client.link));
        client.link = 0;
        deliver();
    }

    int residents() {
        return member.residents();
    }

    private void checkCopy(Cell cell) {
        if (copies) {
            assertThat(cell.copy().fingerprint(now)).isEqualTo(cell.fingerprint(now));
        }
    }

    private void check() {
        List<Held> believed = new ArrayList<>();
        Set<LockMode> modes = EnumSet.noneOf(LockMode.class);
        Set<Long> different = new HashSet<>();
        int permits = 0;
        for (Client client : clients) {
            for (Held held : client.held.values()) {
                if (held.handle().holds(held.token(), now)) {
                    believed.add(held);
                    different.add(held.token());
                    modes.add(held.mode());
                    permits += held.mode() == LockMode.PERMITS ? held.permits() : 0;
                }
            }
        }
        boolean alone = modes.contains(LockMode.EXCLUSIVE);
        boolean levels = modes.stream().anyMatch(LockMode::isTree);
        boolean together = levels ? levelsStandTogether(believed) : modes.size() <= 1;
        assertThat(together && permits <= capacity && (!alone || believed.size() == 1))
                .as("believed together: %s", believed)
                .isTrue();
        assertThat(different).as("tokens of %s", believed).hasSameSizeAs(believed);
    }

    private static boolean levelsStandTogether(Collection<Held> believed) {
        for (Held one : believed) {
            for (Held other : believed) {
                if (one.token() != other.token() && !TreeModes.together(one.mode(), other.mode())) {
                    return false;
                }
            }
        }
        return true;
    }

    private final class MemberDriver extends WorldDriver {
        MemberDriver() {
            super(() -> now, goals);
        }

        @Override
        public void transmit(long link, Frame frame) {
            for (Client client : clients) {
                if (client.link == link) {
                    note(frame);
                    client.send(client.toClient, () -> client.arrived(link, frame));
                }
            }
        }

        @Override
        public void deliver(Notice notice) {
            alarms.add(notice);
        }
    }

    private void note(Frame frame) {
        for (Message message : ((PlainFrame) frame).messages()) {
            sent.add((LockMessage) message);
        }
    }

    /** How many messages of that type were sent. */
    long count(Class<? extends LockMessage> type) {
        return sent.stream().filter(type::isInstance).count();
    }

    /** A client, its users, and what they were told. */
    final class Client extends WorldDriver {
        final String name;
        final Cell cell;
        final List<LockNotice> notices = new ArrayList<>();
        final Map<Long, Held> held = new LinkedHashMap<>();
        final Set<Long> waiting = new LinkedHashSet<>();
        /** The tokens of what users gave up when they asked for less. */
        private final Set<Long> givenUp = new LinkedHashSet<>();

        private final Map<Long, LockCall.Acquire> asked = new LinkedHashMap<>();
        private final ArrayDeque<Runnable> toMember = new ArrayDeque<>();
        private final ArrayDeque<Runnable> toClient = new ArrayDeque<>();
        private boolean cut;
        private long link;

        Client(String name) {
            super(() -> now, goals);
            this.name = name;
            this.cell = new Cell(machines, new PlainClient());
        }

        void open() {
            link = ++links;
            GrantWorld.this.toMember(new Input.Opened(link));
            input(new Input.Opened(link));
            GrantWorld.this.deliver();
        }

        void lose(String why) {
            long was = link;
            link = 0;
            input(new Input.Closed(was, why));
        }

        /** Its frames arrive no more, until they do all at once. */
        void cut(boolean flag) {
            cut = flag;
            for (ArrayDeque<Runnable> way : List.of(toMember, toClient)) {
                while (!flag && !way.isEmpty()) {
                    frames.add(way.remove());
                }
            }
            GrantWorld.this.deliver();
        }

        private void send(ArrayDeque<Runnable> way, Runnable frame) {
            (cut ? way : frames).add(frame);
        }

        private void arrived(long over, Frame frame) {
            if (over == link) {
                input(new Input.Arrived(over, frame));
            }
        }

        private void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
            checkCopy(cell);
            check();
        }

        private void call(Call call) {
            input(new Input.Command(KEY, call));
            GrantWorld.this.deliver();
        }

        /** The locks of which it keeps something. */
        List<Key> kept() {
            return cell.keys().stream().filter(LockKeys::isNamed).toList();
        }

        /** Its member says that of its cluster. */
        void hears(boolean up, boolean ready) {
            ClusterState state = new ClusterState(CLUSTER, up, ready, up ? List.of() : List.of("b:7400"));
            input(new Input.Arrived(link, new PlainFrame(link, Turn.NEVER, 0, List.of(state))));
        }

        void raw(LockMessage message) {
            GrantWorld.this.toMember(new Input.Arrived(link, new PlainFrame(link, now, 0, List.of(message))));
            GrantWorld.this.deliver();
        }

        long acquire(LockMode mode) {
            return acquire(mode, 1, TTL);
        }

        long acquire(LockMode mode, int permits, long ttl) {
            return ask(mode, permits, ttl, true);
        }

        long ask(LockMode mode, int permits, long ttl, boolean queue) {
            return ask(mode, permits, capacity, capacity, ttl, queue);
        }

        /** {@code sees}: the capacity in this user's view. */
        long ask(LockMode mode, int permits, int sees, int perResource, long ttl, boolean queue) {
            long request = ++requests;
            Owner owner = new Owner(name, Map.of());
            LockCall.Acquire call = new LockCall.Acquire(
                    request,
                    mode,
                    permits,
                    sees,
                    perResource,
                    ttl,
                    owner,
                    queue,
                    queue,
                    500 * MS,
                    0,
                    0,
                    0,
                    LockMessage.Acquire.IN_THE_QUEUE,
                    request);
            waiting.add(request);
            asked.put(request, call);
            call(call);
            return request;
        }

        /** Wants to write as a soft writer, after so many nanoseconds without readers. */
        long acquireSoftly(long quiet, boolean queue) {
            long request = ++requests;
            Owner owner = new Owner(name, Map.of());
            call(expected(new LockCall.Acquire(
                    request,
                    LockMode.EXCLUSIVE,
                    1,
                    1,
                    1,
                    TTL,
                    owner,
                    queue,
                    queue,
                    500 * MS,
                    0,
                    0,
                    0,
                    quiet,
                    request)));
            return request;
        }

        long token(long request) {
            Held grant = held.get(request);
            return grant == null ? 0 : grant.token();
        }

        boolean believes(long request) {
            Held grant = held.get(request);
            return grant != null && grant.handle().holds(grant.token(), now);
        }

        void release(long request) {
            long token = token(request);
            held.remove(request);
            call(new LockCall.Release(token));
        }

        /** As an engine does: without the cell if it can be; true if so. */
        boolean letGo(long request) {
            Held grant = held.remove(request);
            assertThat(grant).isNotNull();
            if (grant.handle().tryRelease(grant.token(), now)) {
                check();
                return true;
            }
            call(new LockCall.Release(grant.token()));
            return false;
        }

        /** As an engine does: an idle grant, without the cell. The request, or 0. */
        long reuse(LockMode mode, int permits, int capacity, long ttl) {
            for (GrantHandle handle : handles()) {
                long request = requests + 1;
                long token = handle.tryReuse(mode, permits, capacity, ttl, new Owner(name, Map.of()), request, now);
                if (token != 0) {
                    requests = request;
                    assertThat(tokens.add(token)).isTrue();
                    held.put(request, new Held(request, mode, permits, token, handle));
                    check();
                    return request;
                }
            }
            return 0;
        }

        long reuse(LockMode mode) {
            return reuse(mode, 1, 1, TTL);
        }

        List<GrantHandle> handles() {
            LockClientHelper helper = (LockClientHelper) cell.machine(KEY);
            return helper == null ? List.of() : helper.handles();
        }

        /** What is granted and idle. */
        long idle() {
            return handles().stream().filter(GrantHandle::idle).count();
        }

        /** Wants what that request holds in another mode; whoever wants to write less has stopped writing. */
        long convert(long request, LockMode mode, boolean queue) {
            long wish = ++requests;
            long token = token(request);
            Owner owner = new Owner(name, Map.of());
            LockCall.Acquire call = new LockCall.Acquire(
                    wish,
                    mode,
                    1,
                    1,
                    1,
                    TTL,
                    owner,
                    queue,
                    queue,
                    500 * MS,
                    0,
                    0,
                    token,
                    LockMessage.Acquire.IN_THE_QUEUE,
                    wish);
            waiting.add(wish);
            asked.put(wish, call);
            if (mode == LockMode.SHARED) {
                held.remove(request);
                givenUp.add(token);
            }
            call(call);
            return wish;
        }

        /** A request that comes with others. */
        LockCall.Acquire expected(LockCall.Acquire call) {
            waiting.add(call.request());
            asked.put(call.request(), call);
            return call;
        }

        /** Several calls of users, of which nothing is sent before the last one was taken. */
        void together(LockCall... calls) {
            for (LockCall each : calls) {
                cell.input(new Input.Command(KEY, each), this);
            }
            cell.flush(this);
            GrantWorld.this.deliver();
        }

        void withdraw(long request) {
            call(new LockCall.Withdraw(request));
        }

        void question(LockCall question) {
            call(question);
        }

        <T extends LockNotice> List<T> told(Class<T> type) {
            return notices.stream().filter(type::isInstance).map(type::cast).toList();
        }

        @Override
        public void deliver(Notice notice) {
            LockNotice said = (LockNotice) notice;
            notices.add(said);
            if (said instanceof LockNotice.Granted granted) {
                answered(granted.request());
                LockCall.Acquire call = asked.get(granted.request());
                assertThat(call).isNotNull();
                held.values().removeIf(old -> call.converts() != 0 && old.token() == call.converts());
                assertThat(tokens.add(granted.token()))
                        .as("%s is given once", granted)
                        .isTrue();
                held.put(
                        granted.request(),
                        new Held(granted.request(), call.mode(), call.permits(), granted.token(), granted.handle()));
            } else if (said instanceof LockNotice.Refused refused) {
                answered(refused.request());
            } else if (said instanceof LockNotice.Failed failed && failed.user() != null) {
                answered(failed.request());
            } else if (said instanceof LockNotice.Withdrawn withdrawn) {
                answered(withdrawn.request());
            } else if (said instanceof LockNotice.Ended ended) {
                assertThat(held.values().removeIf(grant -> grant.token() == ended.token())
                                || givenUp.remove(ended.token()))
                        .as("%s held what it is told the end of: %s", name, ended)
                        .isTrue();
            } else if (said instanceof LockNotice.ReleaseDone done && done.answer() == Answer.DONE) {
                assertThat(held.values()).extracting(Held::token).doesNotContain(done.token());
            }
        }

        private void answered(long request) {
            assertThat(waiting.remove(request))
                    .as("%s is answered once for request %s", name, request)
                    .isTrue();
        }

        @Override
        public void transmit(long over, Frame frame) {
            if (over == link) {
                note(frame);
                send(toMember, () -> GrantWorld.this.toMember(new Input.Arrived(over, frame)));
            }
        }
    }
}
