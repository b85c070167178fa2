// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.spi.Owner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The lease service over the real sessions: what a lost link and a restarted member do to a lease. */
class LeaseOverSessionsTest {
    private static final long MS = 1_000_000;
    private static final long TTL = 8_000 * MS;
    private static final SessionSettings SETTINGS =
            SessionSettings.of("test", 1, 2, LeaseKeys.ALGORITHM, 2 * TTL, Authenticator.none());

    private final ArrayDeque<Runnable> inFlight = new ArrayDeque<>();
    private final Map<Long, Client> links = new HashMap<>();
    private final List<Client> clients = new ArrayList<>();
    private long now = 1_000 * MS;
    private long lives;
    /** The member answers the hello and says nothing else. */
    private boolean unwelcoming;

    private Cell member = member(now);

    private Cell member(long quarantineUntil) {
        lives++;
        return new Cell(
                new LeaseAlgorithm().memberMachines(all -> true),
                new MemberSessions(SETTINGS, "a:1", new Incarnation(1, lives), lives, quarantineUntil, Horizon.NONE));
    }

    private Client client() {
        Client client = new Client("c" + clients.size(), clients.size() + 1);
        clients.add(client);
        return client;
    }

    private void atMember(long life, Input input) {
        inFlight.add(() -> {
            if (life == lives) {
                member.input(input, memberDriver);
                member.flush(memberDriver);
            }
        });
    }

    private void settle() {
        while (!inFlight.isEmpty()) {
            inFlight.poll().run();
        }
    }

    private void advance(long nanos) {
        long end = now + nanos;
        settle();
        while (true) {
            long next = member.nextDue();
            for (Client client : clients) {
                next = Math.min(next, client.cell.nextDue());
            }
            if (next > end) {
                break;
            }
            now = Math.max(now, next);
            if (member.nextDue() <= now) {
                atMember(lives, new Input.Tick());
            }
            for (Client client : clients) {
                if (client.cell.nextDue() <= now) {
                    client.input(new Input.Tick());
                }
            }
            settle();
        }
        now = end;
    }

    private void restart(long quarantine) {
        member = member(now + quarantine);
        for (Client client : clients) {
            client.lose();
        }
        settle();
    }

    private final Driver memberDriver = new Driver() {
        @Override
        public long clock() {
            return now;
        }

        @Override
        public long random() {
            return now * 31;
        }

        @Override
        public void dial(long link) {}

        @Override
        public void transmit(long link, Frame frame) {
            Client client = links.get(link);
            if (client != null && client.reachable && !(unwelcoming && frame instanceof SessionFrame.Welcome)) {
                inFlight.add(() -> client.input(new Input.Arrived(link % 1_000_000, frame)));
            }
        }

        @Override
        public void hangUp(long link) {
            Client client = links.remove(link);
            if (client != null) {
                inFlight.add(() -> client.input(new Input.Closed(link % 1_000_000, "hung up")));
            }
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            atMember(lives, new Input.Forced(ticket));
        }

        @Override
        public void deliver(Notice notice) {}
    };

    /** A client whose link can be cut; frames of a cut link are lost. */
    private final class Client implements Driver {
        private final long id;
        private final String name;
        private final Cell cell;
        private final List<LockNotice> told = new ArrayList<>();
        private final List<Long> dialled = new ArrayList<>();
        private boolean reachable = true;
        private long requests;

        Client(String name, long id) {
            this.name = name;
            this.id = id;
            this.cell = new Cell(
                    new LeaseAlgorithm().clientMachines(),
                    new ClientSession(SETTINGS, new Incarnation(9, id), List.of()));
        }

        private long global(long link) {
            return id * 1_000_000 + link;
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
        }

        void call(String lock, Call call) {
            input(new Input.Command(LeaseKeys.lock(lock), call));
        }

        void acquire(String lock) {
            Owner owner = new Owner(name, Map.of());
            call(lock, new LockCall.Acquire(++requests, LockMode.EXCLUSIVE, 1, 1, TTL, owner, true, false, 0, 0, null));
        }

        /** The token in use and believed; 0 if none. */
        long believes(String lock) {
            LockClientHelper helper = (LockClientHelper) cell.machine(LeaseKeys.lock(lock));
            GrantHandle handle = helper == null ? null : helper.handle();
            return handle != null && handle.current() != 0 && handle.holds(handle.current(), now)
                    ? handle.current()
                    : 0;
        }

        void release(String lock) {
            long token = believes(lock);
            call(lock, new LockCall.Release(token));
            settle();
        }

        void lose() {
            for (long link : dialled) {
                links.remove(global(link));
                input(new Input.Closed(link, "cut"));
                atMember(lives, new Input.Closed(global(link), "cut"));
            }
        }

        @Override
        public long clock() {
            return now;
        }

        @Override
        public long random() {
            return now * 17 + id;
        }

        @Override
        public void dial(long link) {
            dialled.clear();
            dialled.add(link);
            if (reachable) {
                links.put(global(link), this);
                atMember(lives, new Input.Opened(global(link)));
                inFlight.add(() -> input(new Input.Opened(link)));
            } else {
                inFlight.add(() -> input(new Input.Closed(link, "unreachable")));
            }
        }

        @Override
        public void transmit(long link, Frame frame) {
            if (reachable && links.containsKey(global(link))) {
                atMember(lives, new Input.Arrived(global(link), frame));
            }
        }

        @Override
        public void hangUp(long link) {
            if (links.remove(global(link)) != null) {
                atMember(lives, new Input.Closed(global(link), "hung up"));
            }
        }

        @Override
        public void persist(DurableRecord record, long ticket) {}

        @Override
        public void deliver(Notice notice) {
            told.add((LockNotice) notice);
        }

        List<String> told() {
            List<String> names = new ArrayList<>();
            for (LockNotice notice : told) {
                if (!(notice instanceof LockNotice.Closed) && !(notice instanceof LockNotice.Trouble)) {
                    names.add(notice.getClass().getSimpleName());
                }
            }
            told.clear();
            return names;
        }
    }

    @Test
    void aLockIsGrantedCachedRecalledAndGrantedAgain() {
        Client c0 = client();
        Client c1 = client();
        c0.acquire("a");
        advance(MS);
        long token = c0.believes("a");
        assertThat(token).isPositive();
        c0.release("a");
        advance(2 * TTL);
        assertThat(member.machine(LeaseKeys.lock("a"))).as("cached").isNotNull();
        c1.acquire("a");
        advance(MS);
        assertThat(c1.believes("a")).isEqualTo(token + 1);
        assertThat(c0.cell.residents()).isZero();
    }

    @Test
    void aHeldLeaseOutlivesALinkThatIsLostForAWhile() {
        Client c0 = client();
        c0.acquire("a");
        advance(3 * TTL);
        long token = c0.believes("a");
        c0.reachable = false;
        c0.lose();
        advance(TTL / 4);
        c0.reachable = true;
        advance(3 * TTL);
        assertThat(c0.believes("a")).isEqualTo(token);
        assertThat(c0.told()).containsExactly("Granted");
    }

    @Test
    void aHolderThatIsCutOffLosesAndTheNextIsGrantedAfterTheLease() {
        Client c0 = client();
        Client c1 = client();
        c0.acquire("a");
        advance(MS);
        c1.acquire("a");
        advance(MS);
        c0.reachable = false;
        c0.lose();
        long cut = now;
        while (c1.believes("a") == 0) {
            assertThat(now - cut).isLessThanOrEqualTo(TTL);
            advance(50 * MS);
            assertThat(c0.believes("a") != 0 && c1.believes("a") != 0).isFalse();
        }
        assertThat(c0.told()).containsExactly("Granted", "Doubted", "Ended");
        c0.reachable = true;
        advance(2 * TTL);
        assertThat(c0.believes("a")).isZero();
        assertThat(c0.cell.residents()).isZero();
    }

    @Test
    void aLeaseOutlivesARestartOfItsMember() {
        Client c0 = client();
        Client c1 = client();
        c0.acquire("a");
        advance(MS);
        long token = c0.believes("a");
        restart(SETTINGS.quarantine());
        c1.acquire("a");
        advance(3 * TTL);
        assertThat(c0.believes("a")).isEqualTo(token);
        assertThat(c0.told()).containsExactly("Granted", "Doubted", "Certain");
        c0.release("a");
        advance(MS);
        assertThat(c1.believes("a")).isGreaterThan(token);
    }

    /** A holder's member was restarted, and cannot be told of the grant. */
    private Client frozen() {
        Client client = client();
        client.acquire("a");
        advance(MS);
        unwelcoming = true;
        restart(SETTINGS.quarantine());
        advance(200 * MS);
        assertThat(client.believes("a")).isPositive();
        return client;
    }

    @Test
    void aGrantOfAFormerLifeOfItsMemberEndsWithWhatStoodForItsClient() {
        Client client = frozen();
        client.input(new Input.Reborn(5, 0, "clients.lock was replaced"));
        assertThat(client.believes("a")).isZero();
        assertThat(client.told()).containsExactly("Granted", "Doubted", "Ended");
    }

    @Test
    void aReleaseThatNoMemberTakesIsForgottenWhenItIsWorthNothing() {
        Client client = frozen();
        client.release("a");
        assertThat(client.cell.residents()).as("the member is to be told").isPositive();
        advance(3 * TTL);
        assertThat(client.cell.residents()).isZero();
        int dials = client.dialled.size();
        advance(10 * TTL);
        assertThat(client.dialled).hasSize(dials);
    }

    @Test
    void aSilentWaiterDoesNotHoldUpTheQueue() {
        Client c0 = client();
        Client c1 = client();
        Client c2 = client();
        c0.acquire("a");
        advance(MS);
        c1.acquire("a");
        advance(MS);
        c2.acquire("a");
        advance(MS);
        c1.reachable = false;
        c1.lose();
        advance(TTL);
        c0.release("a");
        advance(MS);
        assertThat(c2.believes("a")).isPositive();
        c1.reachable = true;
        advance(TTL);
        c2.release("a");
        advance(MS);
        assertThat(c1.believes("a")).isPositive();
    }

    @Test
    void nothingIsLeftWhenAllIsReleased() {
        Client c0 = client();
        Client c1 = client();
        for (int i = 0; i < 20; i++) {
            c0.acquire("a");
            c1.acquire("a");
            c1.acquire("b");
            advance(MS);
            for (int j = 0; j < 4; j++) {
                for (Client client : clients) {
                    for (String name : List.of("a", "b")) {
                        if (client.believes(name) != 0) {
                            client.release(name);
                        }
                    }
                }
                advance(MS);
            }
        }
        advance(LockSettings.defaults().cacheFor() + 5 * TTL);
        assertThat(member.residents()).isZero();
        assertThat(c0.cell.residents()).isZero();
        assertThat(c1.cell.residents()).isZero();
    }
}
