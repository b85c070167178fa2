// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.ElectionListener;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Subscription;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The processes of an {@link Election} that talk with each other: all call the leader, and the leader asks and tells
 * all. After the behaviour {@code locks_leader} (Erlang). The election says who leads, by its lock; messages go over
 * TCP, from each process to the leader, which says in the metadata of its candidacy where it is reached. Thread-safe.
 *
 * <pre>{@code
 * Election election = client.election("cache/owner").as("node-7");
 * try (ElectionGroup group = ElectionGroup.stand(election, new CacheOwner(), GroupOptions.defaults())) {
 *     byte[] answer = group.call(question, Duration.ofSeconds(5)).toCompletableFuture().get();
 * }
 * }</pre>
 *
 * <p><b>Promises.</b> A call is carried out by a process that believes in its leadership at that moment, and by one at
 * most; it may have been carried out without an answer ({@link GroupCallException#mayBeDone()}), and is never repeated.
 * Calls of one process are carried out in their order as long as one process leads. Nobody takes anything from an
 * earlier leader after it has heard of a later one. What a leader does under a call that takes long may be late:
 * resources have to be fenced with its token, as of any lock.
 *
 * <p>Names of candidates and observers are unique in a group. All need {@link io.keyway.lock.Feature#LIST}. Stages
 * complete on the thread that also calls the {@link GroupMember}: do not block there.
 */
public final class ElectionGroup implements AutoCloseable {
    private static final int CONNECT_MILLIS = 5_000;
    /** No longer than that a leader waits until others have what it hands on. */
    private static final Duration HAND_ON = Duration.ofSeconds(2);

    private final Election election;
    private final GroupOptions options;
    private final Greeting greeting;
    private final String name;
    private final Group group;
    private final @Nullable Entrance entrance;
    private final @Nullable Candidacy candidacy;
    private final Subscription observer;
    /** Of the leadership that was told last, for how long its end may be put off. */
    private volatile Duration patience = HAND_ON;

    private ElectionGroup(Election asked, @Nullable String observerName, GroupMember member, GroupOptions options) {
        this.options = options;
        this.greeting = new Greeting(asked.name().value(), options.secret());
        this.entrance = observerName == null ? new Entrance(options, greeting, this::joined) : null;
        this.election = entrance == null ? asked : asked.with(metadata(entrance));
        Candidacy stands = null;
        boolean complete = false;
        try {
            Events events = new Events();
            stands = entrance == null ? null : election.stand(events);
            this.candidacy = stands;
            this.name = stands == null ? Objects.requireNonNull(observerName) : stands.name();
            this.group = new Group(
                    election.name(),
                    "keyway-group-" + name,
                    name,
                    member,
                    options.longestMessage(),
                    this::isLeading,
                    this::search);
            this.observer = election.observe(this::observed);
            events.begin(this);
            complete = true;
        } finally {
            if (!complete && entrance != null) {
                entrance.close();
            }
            if (!complete && stands != null) {
                stands.close();
            }
        }
        if (entrance != null) {
            entrance.run("keyway-group-" + name);
        }
    }

    private LockOptions metadata(Entrance at) {
        Map<String, String> said = new HashMap<>(options.metadata());
        said.put(GroupAddress.KEY, at.address());
        return LockOptions.none().withMetadata(said);
    }

    /**
     * Stands for election and takes part in the group until it is closed.
     *
     * @param election of which lock, under which name
     * @param member what this process does
     * @param options how it is reached
     * @return the group, as this process sees it
     * @throws IllegalArgumentException if it cannot listen there
     * @throws io.keyway.lock.UnsupportedFeatureException without {@link io.keyway.lock.Feature#LIST}
     */
    public static ElectionGroup stand(Election election, GroupMember member, GroupOptions options) {
        return new ElectionGroup(election, null, member, options);
    }

    /**
     * Follows the leader without standing until it is closed.
     *
     * @param election of which lock
     * @param name under which the leader knows this process
     * @param member what this process does; it is never elected, nor asked by a leader
     * @param options how it reaches others
     * @return the group, as this process sees it
     * @throws io.keyway.lock.UnsupportedFeatureException without {@link io.keyway.lock.Feature#LIST}
     */
    public static ElectionGroup observe(Election election, String name, GroupMember member, GroupOptions options) {
        return new ElectionGroup(election, name, member, options);
    }

    // Events

    /** What becomes of the candidacy; the first event may come before the group is there. */
    private static final class Events implements ElectionListener {
        private final List<ElectionEvent> early = new ArrayList<>();
        private @Nullable ElectionGroup group;

        synchronized void begin(ElectionGroup its) {
            early.forEach(its::told);
            early.clear();
            group = its;
        }

        @Override
        public synchronized void onEvent(ElectionEvent event) {
            ElectionGroup its = group;
            if (its == null) {
                early.add(event);
            } else {
                its.told(event);
            }
        }
    }

    private void told(ElectionEvent event) {
        switch (event.type()) {
            case ELECTED -> {
                Duration ttl = leadership().map(Lease::ttl).orElse(HAND_ON);
                Duration part = ttl.dividedBy(6);
                patience = part.compareTo(HAND_ON) < 0 ? part : HAND_ON;
                group.post(() -> group.elected(event.token().orElseThrow()));
            }
            case SURRENDERED -> {
                if (event.loss().isPresent()) {
                    LeaseLoss loss = event.loss().get();
                    group.post(() -> group.deposed(loss));
                } else {
                    handOn(); // the lock is given back when this returns
                }
            }
            default -> {}
        }
    }

    private Optional<Lease> leadership() {
        return candidacy == null ? Optional.empty() : candidacy.leadership();
    }

    private void handOn() {
        CountDownLatch done = new CountDownLatch(1);
        Duration limit = patience;
        group.post(() -> group.surrendered(limit, done::countDown), done::countDown);
        try {
            // Otherwise the next leader begins without it.
            boolean unused = done.await(limit.toMillis() / 4 * 5, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void observed(ElectionEvent event) {
        String who = event.leader();
        long token = event.token().orElse(0);
        switch (event.type()) {
            case ELECTED -> group.post(() -> group.observed(who, token));
            case SURRENDERED -> group.post(() -> group.observedEnd(who));
            default -> {}
        }
    }

    private void joined(Link link, Greeting.Hello hello) {
        group.post(() -> group.joined(link, hello), link::close);
    }

    private Group.Found search() throws IOException, InterruptedException {
        Candidate leader = election.leader().orElseThrow(() -> new IOException("nobody leads"));
        String address = leader.metadata().get(GroupAddress.KEY);
        if (address == null || leader.name().equals(name)) {
            throw new IOException(leader.name() + " leads, and takes part in no group");
        }
        InetSocketAddress at = GroupAddress.parse(address);
        Socket socket = options.sockets().createSocket();
        try {
            socket.connect(new InetSocketAddress(at.getHostString(), at.getPort()), CONNECT_MILLIS);
            Link link = new Link(socket, options.longestMessage());
            return new Group.Found(link, leader.name(), greeting.say(link, name, candidacy != null));
        } catch (IOException e) {
            socket.close();
            throw new IOException(address + ": " + e.getMessage(), e);
        }
    }

    // What a process can do

    /** {@return whether this process leads, computed from the clock at this call} */
    public boolean isLeading() {
        return candidacy != null && candidacy.isLeading();
    }

    /** {@return the candidacy of this process; empty if it observes} */
    public Optional<Candidacy> candidacy() {
        return Optional.ofNullable(candidacy);
    }

    /**
     * Calls the leader, which may be this process. While nobody leads, or the leader is not reached, the call is kept.
     *
     * @param request what {@link GroupMember#called} of the leader gets
     * @param limit how long to wait for the answer
     * @return the answer, or a {@link GroupCallException}
     * @throws IllegalArgumentException if the request is longer than the longest message
     */
    public CompletionStage<byte[]> call(byte[] request, Duration limit) {
        return group.say(checked(request), false, limit);
    }

    /**
     * Sends the leader, which may be this process, a message that is not answered. While nobody leads, or the leader is
     * not reached, the message is kept.
     *
     * @param message what {@link GroupMember#cast} of the leader gets, if it leads still
     * @param limit how long the message is kept
     * @return completes when the message is on its way, and may be lost with the connection; or with a
     *     {@link GroupCallException}
     * @throws IllegalArgumentException if the message is longer than the longest one
     */
    public CompletionStage<Void> cast(byte[] message, Duration limit) {
        return group.say(checked(message), true, limit).thenAccept(nothing -> {});
    }

    /**
     * Asks all candidates that follow this process, which leads; not itself.
     *
     * @param question what {@link GroupMember#asked} of each gets
     * @param limit how long to wait for each
     * @return by name, the answers that came in time; an {@link IllegalStateException} if this process does not lead
     * @throws IllegalArgumentException if the question is longer than the longest message
     */
    public CompletionStage<Map<String, byte[]>> ask(byte[] question, Duration limit) {
        return group.ask(checked(question), limit);
    }

    /**
     * Tells all candidates and observers that follow this process, which leads; not itself.
     *
     * @param message what {@link GroupMember#told} of each gets
     * @return completes when it is on its way; an {@link IllegalStateException} if this process does not lead
     * @throws IllegalArgumentException if the message is longer than the longest one
     */
    public CompletionStage<Void> broadcast(byte[] message) {
        return group.broadcast(checked(message), true).thenAccept(nothing -> {});
    }

    /**
     * Tells as {@link #broadcast}, but candidates alone.
     *
     * @param message what {@link GroupMember#told} of each gets
     * @return completes when it is on its way; an {@link IllegalStateException} if this process does not lead
     * @throws IllegalArgumentException if the message is longer than the longest one
     */
    public CompletionStage<Void> broadcastToCandidates(byte[] message) {
        return group.broadcast(checked(message), false).thenAccept(nothing -> {});
    }

    private byte[] checked(byte[] message) {
        if (message.length > options.longestMessage()) {
            throw new IllegalArgumentException("A message of this group has at most " + options.longestMessage()
                    + " bytes, not " + message.length + ": GroupOptions.withLongestMessage.");
        }
        return message;
    }

    /** Gives the leadership up, if this process leads, and stands again: {@link Candidacy#surrender}. */
    public void surrender() {
        if (candidacy != null) {
            candidacy.surrender();
        }
    }

    /**
     * Takes no more part: hands on and gives up the leadership, if this process leads, and stands no more. What waits
     * for an answer fails. To be called before the client is closed, and not by the {@link GroupMember}. Never throws;
     * idempotent.
     */
    @Override
    public void close() {
        observer.close();
        if (candidacy != null) {
            candidacy.close(); // hands on first, if it leads
        }
        if (entrance != null) {
            entrance.close();
        }
        group.close();
    }
}
