// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One member and some clients, with the real sessions and the real bytes between them, and users who take a lock and
 * give it back forever: what one acquire and one hand-over cost, in frames, bytes and turns. Nothing is lost, and all
 * that happens takes equally long.
 */
final class ContendedWorld {
    private static final long MS = 1_000_000;
    private static final long TTL = 8_000 * MS;
    /** What each event takes: a frame on its way, a user who thinks. */
    private static final long STEP = 10_000;

    private static final SessionSettings SETTINGS =
            SessionSettings.of("test", 1, 2, LeaseKeys.ALGORITHM, 2 * TTL, Authenticator.none());

    private final LeaseAlgorithm algorithm;
    private final FrameCodec codec = new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM));
    private final ArrayDeque<Runnable> events = new ArrayDeque<>();
    private final List<Client> clients = new ArrayList<>();
    final List<User> users = new ArrayList<>();
    private final Cell member;
    private long now = 1_000 * MS;
    private @Nullable User holder;

    /** Data frames since the last {@link #count}, and their bytes. */
    long toMember;

    long toClients;
    long bytes;
    /** Messages by name, since then. */
    private final Map<String, Integer> messages = new HashMap<>();

    ContendedWorld(LockSettings settings) {
        algorithm = new LeaseAlgorithm(settings);
        member = new Cell(
                algorithm.memberMachines(all -> true),
                new MemberSessions(SETTINGS, "a:1", new Incarnation(1, 1), 1, now, Horizon.NONE));
    }

    Cell member() {
        return member;
    }

    Client client() {
        Client client = new Client(clients.size() + 1);
        clients.add(client);
        return client;
    }

    /** Counts from here on. */
    void count() {
        toMember = 0;
        toClients = 0;
        bytes = 0;
        messages.clear();
        users.forEach(user -> user.had = 0);
    }

    /** How often anybody had a lock. */
    long had() {
        return users.stream().mapToLong(user -> user.had).sum();
    }

    /** How many messages of that name were sent. */
    int messages(String name) {
        return messages.getOrDefault(name, 0);
    }

    int residentsOfClients() {
        return clients.stream().mapToInt(client -> client.cell.residents()).sum();
    }

    /** Runs so many events. */
    void run(long count) {
        for (long i = 0; i < count && !events.isEmpty(); i++) {
            now += STEP;
            events.poll().run();
            tick();
        }
    }

    /** Lets everything happen that is on its way, and the time pass after which nothing is kept. */
    void rest() {
        run(Long.MAX_VALUE);
        for (long end = now + LockSettings.defaults().cacheFor() + 5 * TTL; now - end < 0; run(Long.MAX_VALUE)) {
            now += MS;
            tick();
        }
    }

    private void tick() {
        if (member.nextDue() <= now) {
            atMember(new Input.Tick());
        }
        for (Client client : clients) {
            if (client.cell.nextDue() <= now) {
                client.input(new Input.Tick());
            }
        }
    }

    private void atMember(Input input) {
        member.input(input, memberDriver);
        member.flush(memberDriver);
    }

    /** The frame as the other end reads it. */
    private List<Frame> sent(Frame frame) {
        List<Frame> read = new ArrayList<>(1);
        codec.encode((SessionFrame) frame, buffer -> {
            if (frame instanceof SessionFrame.Data) {
                bytes += buffer.remaining();
            }
            FrameReader reader = new FrameReader(codec);
            reader.open();
            reader.trust();
            ByteBuffer copy =
                    ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
            try {
                read.add(Objects.requireNonNull(reader.next(copy)));
            } catch (WireException e) {
                throw new AssertionError(e);
            }
        });
        for (Frame one : read) {
            if (one instanceof SessionFrame.Data data) {
                data.messages().forEach(each -> messages.merge(each.getClass().getSimpleName(), 1, Integer::sum));
            }
        }
        return read;
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
            for (Frame one : sent(frame)) {
                toClients += one instanceof SessionFrame.Data ? 1 : 0;
                Client client = clients.get((int) link - 1);
                events.add(() -> client.input(new Input.Arrived(client.link, one)));
            }
        }

        @Override
        public void hangUp(long link) {}

        @Override
        public void persist(DurableRecord record, long ticket) {
            events.add(() -> atMember(new Input.Forced(ticket)));
        }

        @Override
        public void deliver(Notice notice) {}
    };

    /** A client that is never cut off. */
    final class Client implements Driver {
        private final long id;
        private final Owner owner;
        final Cell cell;
        private final Map<Long, User> releasing = new HashMap<>();
        private final Map<String, GrantHandle> handles = new HashMap<>();
        private long link;
        private long requests;

        Client(long id) {
            this.id = id;
            owner = new Owner("client-" + id, Map.of());
            cell = new Cell(algorithm.clientMachines(), new ClientSession(SETTINGS, new Incarnation(9, id), List.of()));
        }

        /** Somebody who wants that lock again and again. */
        User user(String lock) {
            User user = new User(this, lock);
            users.add(user);
            events.add(user::acquire);
            return user;
        }

        void input(Input input) {
            cell.input(input, this);
            cell.flush(this);
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
        public void dial(long opened) {
            link = opened;
            events.add(() -> atMember(new Input.Opened(id)));
            events.add(() -> input(new Input.Opened(opened)));
        }

        @Override
        public void transmit(long over, Frame frame) {
            for (Frame one : sent(frame)) {
                toMember += one instanceof SessionFrame.Data ? 1 : 0;
                events.add(() -> atMember(new Input.Arrived(id, one)));
            }
        }

        @Override
        public void hangUp(long over) {}

        @Override
        public void persist(DurableRecord record, long ticket) {}

        @Override
        public void deliver(Notice notice) {
            if (notice instanceof LockNotice.Granted granted) {
                User user = (User) Objects.requireNonNull(granted.user());
                handles.put(granted.key().id(), granted.handle());
                user.granted(granted.handle(), granted.token());
            } else if (notice instanceof LockNotice.ReleaseDone done) {
                if (done.answer() != Answer.DONE) {
                    throw new AssertionError(done);
                }
                Objects.requireNonNull(releasing.remove(done.token())).released();
            } else if (notice instanceof LockNotice.Closed closed) {
                handles.remove(closed.key().id(), closed.handle());
            } else if (notice instanceof LockNotice.Waiting waiting) {
                ((User) Objects.requireNonNull(waiting.user())).told++;
            } else {
                throw new AssertionError(notice);
            }
        }
    }

    /** Takes a lock, gives it back, and so on; asks as an engine does: the handle first. */
    final class User {
        private final Client client;
        private final Key key;
        private @Nullable GrantHandle handle;
        private long token;
        private boolean stopped;
        /** How often it had the lock. */
        long had;
        /** How often it was told that it waits. */
        long told;

        User(Client client, String lock) {
            this.client = client;
            this.key = LeaseKeys.lock(lock);
        }

        /** It takes no further turn. */
        void stop() {
            stopped = true;
        }

        private void acquire() {
            if (stopped) {
                return;
            }
            GrantHandle cached = client.handles.get(key.id());
            long reused = cached == null ? 0 : cached.tryReuse(LockMode.EXCLUSIVE, 1, TTL, client.owner, this, now);
            if (cached != null && reused != 0) {
                granted(cached, reused);
                return;
            }
            client.input(new Input.Command(
                    key,
                    new LockCall.Acquire(
                            ++client.requests, LockMode.EXCLUSIVE, 1, 1, TTL, client.owner, true, true, MS, 0, this)));
        }

        private void granted(GrantHandle granted, long given) {
            if (holder != null && holder.key.equals(key)) {
                throw new AssertionError("two hold " + key);
            }
            holder = this;
            handle = granted;
            token = given;
            had++;
            events.add(this::release);
        }

        private void release() {
            holder = null;
            if (Objects.requireNonNull(handle).tryRelease(token, now)) {
                released();
            } else {
                client.releasing.put(token, this);
                client.input(new Input.Command(key, new LockCall.Release(token)));
            }
        }

        private void released() {
            events.add(this::acquire);
        }
    }
}
