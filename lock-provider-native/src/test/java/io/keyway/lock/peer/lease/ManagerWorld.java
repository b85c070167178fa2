// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One manager at its member, and clients that say what a script has them say: what crosses what is up to the script.
 * Time is a manual clock. Each client counts as holding from the message of its grant until it says that it is over, or
 * is told so; after each message it is checked that all of them may hold together, that no token is granted twice, and
 * that a copy of the cell equals it.
 */
final class ManagerWorld {
    static final long MS = 1_000_000;
    static final long TTL = 8_000 * MS;
    static final Key KEY = new Key(LeaseKeys.ALGORITHM, "a");

    private record Held(LockMode mode, int permits) {}

    private final MachineFactory machines;
    private final Set<Long> tokens = new LinkedHashSet<>();
    private final List<Client> clients = new ArrayList<>();
    final Set<CoverageGoal> goals = new LinkedHashSet<>();
    final List<Notice> notices = new ArrayList<>();
    private PlainMember sessions = new PlainMember(7, Turn.NEVER, 4 * TTL);
    private Cell member;
    private long epoch = 7;
    private long now = 1_000_000 * MS;
    private long links;
    private long requests;
    private boolean copies = true;

    ManagerWorld(Admission admission) {
        this(admission, LockSettings.defaults());
    }

    ManagerWorld(Admission admission, LockSettings settings) {
        this(key -> new LockManager(key, settings, admission));
    }

    ManagerWorld(MachineFactory machines) {
        this.machines = machines;
        member = new Cell(machines, sessions);
    }

    /** Compares no copies, for scripts of very many steps. */
    ManagerWorld withoutCopies() {
        copies = false;
        return this;
    }

    Client client() {
        Client client = new Client("c" + clients.size());
        clients.add(client);
        client.connect();
        return client;
    }

    void advance(long nanos) {
        long end = now + nanos;
        while (member.nextDue() <= end) {
            now = Math.max(now, member.nextDue());
            input(new Input.Tick());
        }
        now = end;
    }

    /** The member is killed and starts again, without a memory. */
    void crash() {
        start(now + 4 * TTL);
    }

    /** The member ends in order and starts again, and takes over what it knew. */
    void handOver() {
        List<GrantTable.Entry> table =
                GrantTable.of(member, KEY.algorithm(), now).orElseThrow();
        start(Turn.NEVER);
        table.forEach(entry -> input(new Input.Command(entry.key(), entry.grant())));
    }

    private void start(long opens) {
        sessions = new PlainMember(++epoch, opens, 4 * TTL);
        member = new Cell(machines, sessions);
        clients.forEach(client -> client.link = 0);
    }

    void disown(long token) {
        input(new Input.Command(KEY, new LockCall.Disown(token)));
    }

    /** What the member keeps: machines, and what the sessions know of them. */
    int leftovers() {
        return member.residents() + sessions.leftovers();
    }

    private void input(Input input) {
        Driver driver = new MemberDriver();
        member.input(input, driver);
        member.flush(driver);
        if (copies) {
            assertThat(member.copy().fingerprint(now)).isEqualTo(member.fingerprint(now));
        }
        List<Held> all = new ArrayList<>();
        clients.forEach(client -> all.addAll(client.held.values()));
        boolean alone = all.stream().anyMatch(held -> held.mode() == LockMode.EXCLUSIVE);
        assertThat(alone ? all.size() : 1).as("held together: %s", all).isEqualTo(1);
    }

    private final class MemberDriver extends WorldDriver {
        MemberDriver() {
            super(() -> now, goals);
        }

        @Override
        public void transmit(long link, Frame frame) {
            for (Client client : clients) {
                if (client.link == link) {
                    ((PlainFrame) frame).messages().forEach(client::arrived);
                }
            }
        }

        @Override
        public void deliver(Notice notice) {
            notices.add(notice);
        }
    }

    /** One that says what it is told to say. */
    final class Client {
        final String name;
        final List<LockMessage> got = new ArrayList<>();
        private final Map<Long, LockMessage.Acquire> asked = new LinkedHashMap<>();
        private final Map<Long, Held> held = new TreeMap<>();
        private long link;

        private Client(String name) {
            this.name = name;
        }

        /** A fresh session. */
        void connect() {
            link = ++links;
            input(new Input.Opened(link));
        }

        /** Its session is over, and with it what it holds. */
        void die() {
            held.clear();
            input(new Input.Died(link));
        }

        /** It does not hear what the member says, and believes in nothing any more. */
        void deaf() {
            held.clear();
            link = 0;
        }

        private void arrived(Message message) {
            LockMessage said = (LockMessage) message;
            got.add(said);
            if (said instanceof LockMessage.Granted granted) {
                LockMessage.Acquire request = asked.get(granted.request());
                assertThat(request).as("%s was asked for", granted).isNotNull();
                assertThat(tokens.add(granted.token())).as("%s is new", granted).isTrue();
                held.remove(request.converts());
                held.put(granted.token(), new Held(request.mode(), request.permits()));
            } else if (said instanceof LockMessage.Revoke revoke && revoke.cause() != LeaseLoss.Cause.BROKEN) {
                held.remove(revoke.token());
            }
        }

        /** Says that, in one frame. */
        void say(LockMessage... messages) {
            input(new Input.Arrived(link, new PlainFrame(link, now, 0, List.of(messages))));
        }

        /** Is heard. */
        void beat() {
            say();
        }

        private long ask(LockMode mode, int permits, int capacity, boolean noWait, long atLeast, long converts) {
            LockMessage.Acquire request = request(mode, permits, capacity, noWait, atLeast, converts);
            say(request);
            return request.request();
        }

        LockMessage.Acquire request(
                LockMode mode, int permits, int capacity, boolean noWait, long atLeast, long converts) {
            return request(mode, permits, capacity, noWait, atLeast, converts, LockMessage.Acquire.IN_THE_QUEUE);
        }

        private LockMessage.Acquire request(
                LockMode mode, int permits, int capacity, boolean noWait, long atLeast, long converts, long quiet) {
            LockMessage.Acquire request = new LockMessage.Acquire(
                    KEY,
                    ++requests,
                    mode,
                    permits,
                    capacity,
                    Math.max(1, capacity / 2),
                    TTL,
                    noWait,
                    !noWait,
                    true,
                    0,
                    500 * MS,
                    atLeast,
                    converts,
                    quiet,
                    new Owner(name, Map.of()));
            asked.put(request.request(), request);
            return request;
        }

        long wants(LockMode mode) {
            return ask(mode, 1, 1, false, 0, 0);
        }

        /** As a soft writer, after so many nanoseconds without readers. */
        long wantsSoftly(long quiet) {
            LockMessage.Acquire request = request(LockMode.EXCLUSIVE, 1, 1, false, 0, 0, quiet);
            say(request);
            return request.request();
        }

        /** What no soft writer may ask for. */
        long asksSoftly(LockMode mode, boolean noWait, long converts) {
            LockMessage.Acquire request = request(mode, 1, 1, noWait, 0, converts, 0);
            say(request);
            return request.request();
        }

        long tries(LockMode mode) {
            return ask(mode, 1, 1, true, 0, 0);
        }

        long wants(int permits, int capacity) {
            return ask(LockMode.PERMITS, permits, capacity, false, 0, 0);
        }

        long tries(int permits, int capacity) {
            return ask(LockMode.PERMITS, permits, capacity, true, 0, 0);
        }

        long wantsAtLeast(LockMode mode, long nanos) {
            return ask(mode, 1, 1, false, nanos, 0);
        }

        long upgrades(long token) {
            return ask(LockMode.EXCLUSIVE, 1, 1, false, 0, token);
        }

        long triesToUpgrade(long token) {
            return ask(LockMode.EXCLUSIVE, 1, 1, true, 0, token);
        }

        long downgrades(long token) {
            return ask(LockMode.SHARED, 1, 1, true, 0, token);
        }

        /** A new grant in that mode, which must come at once; its token. */
        long has(LockMode mode) {
            return token(wants(mode));
        }

        void release(long token) {
            held.remove(token);
            say(new LockMessage.Release(KEY, token, token));
        }

        /** Gives back what reached nobody. */
        void returns(long token) {
            held.remove(token);
            say(new LockMessage.Release(KEY, token, token - 1));
        }

        void accepts(long token) {
            held.remove(token);
            say(new LockMessage.Accepted(KEY, token, token));
        }

        void denies(long token) {
            say(new LockMessage.Denied(KEY, token));
        }

        void withdraws(long request) {
            say(new LockMessage.Withdraw(KEY, request));
        }

        /** Its user has stopped, or it has moved past that token and {@code ended} is 0. */
        void revoked(long token, long ended) {
            held.remove(ended);
            say(new LockMessage.Revoked(KEY, token, ended, ended));
        }

        /** Breaks that token. */
        void breaks(long token) {
            say(new LockMessage.Break(KEY, ++requests, token, "a test"));
        }

        /** Claims a grant of before. */
        void reasserts(LockMode mode, int permits, long token) {
            held.put(token, new Held(mode, permits));
            say(new LockMessage.Reassert(
                    KEY, ++requests, token, token, token, mode, permits, TTL, new Owner(name, Map.of())));
        }

        /** A token that it goes on with although the member had given it another one. */
        void goesOnWith(long token, LockMode mode) {
            held.put(token, new Held(mode, 1));
        }

        /** It does not take that token, and nobody has told the member yet. */
        void doesNotTake(long token) {
            held.remove(token);
        }

        LockMessage.Status shown() {
            say(new LockMessage.Show(KEY, ++requests, 0));
            advance(0);
            return last(LockMessage.Status.class);
        }

        /** The first token of the grant of that request; 0 if there was none. */
        long token(long request) {
            return got.stream()
                    .filter(LockMessage.Granted.class::isInstance)
                    .map(LockMessage.Granted.class::cast)
                    .filter(granted -> granted.request() == request)
                    .mapToLong(LockMessage.Granted::token)
                    .findFirst()
                    .orElse(0);
        }

        boolean refused(long request) {
            return got.stream().anyMatch(each -> each instanceof LockMessage.NotGranted no && no.request() == request);
        }

        List<Participant> holdersToldTo(long request) {
            return got.stream()
                    .filter(LockMessage.NotGranted.class::isInstance)
                    .map(LockMessage.NotGranted.class::cast)
                    .filter(refusal -> refusal.request() == request)
                    .findFirst()
                    .orElseThrow()
                    .holders();
        }

        <T extends LockMessage> List<T> all(Class<T> type) {
            return got.stream().filter(type::isInstance).map(type::cast).toList();
        }

        <T extends LockMessage> T last(Class<T> type) {
            List<T> all = all(type);
            return all.get(all.size() - 1);
        }

        /** The tokens that it was asked to give back. */
        List<Long> recalls() {
            return all(LockMessage.Recall.class).stream()
                    .map(LockMessage.Recall::token)
                    .toList();
        }
    }
}
