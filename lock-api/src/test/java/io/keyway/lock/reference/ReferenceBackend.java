// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One client's way to a {@link ReferenceStore}: each verb is one call of the store, which may fail on its way. It
 * decides nothing: it does not retry, wait or remember, and has no thread (LK-1504).
 */
public class ReferenceBackend implements LockBackend {

    /** What it offers unless the URL says otherwise. */
    public static final Set<Feature> FEATURES = Set.copyOf(
            EnumSet.complementOf(EnumSet.of(Feature.CACHING, Feature.TRANSACTIONS, Feature.TREE, Feature.NODE_SETS)));

    static final String SERVER = "reference";

    static final Guarantees GUARANTEES = new Guarantees(
            new Guarantee(Grade.ALWAYS, "within one JVM, over a restart of the store, too"),
            new Guarantee(Grade.TIMED, "if the answer is used at once; the store and its clients share one clock"),
            new Guarantee(Grade.ALWAYS, "while the JVM lives"),
            new Guarantee(Grade.NO, "the store ends with its JVM"),
            LockOptions.MIN_TTL,
            Duration.ofHours(1));

    private final ReferenceWorld world;
    private final ReferenceStore store;
    private final TimeSource time;
    private final Set<Feature> features;
    private final String trouble;
    private final ReferenceFaults faults;
    private Optional<TokenFloor> floor = Optional.empty();
    private @Nullable Session session;
    private boolean closed;

    /**
     * Makes the way to the store of that world.
     *
     * @param time the client's clock
     * @param trouble why the store cannot be reached; empty if it can
     */
    public ReferenceBackend(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
        this.world = world;
        this.store = world.store();
        this.time = time;
        this.features = Set.copyOf(features);
        this.trouble = trouble;
        this.faults = new ReferenceFaults(world::isDown, this::connectionBroken, this::link);
    }

    /** Has the store raise its tokens above that floor when the client begins; to be called before it does. */
    void giveFloor(Optional<TokenFloor> asked) {
        floor = asked;
    }

    @Override
    public void start(Signals signals, Incarnation client) throws NotExecutedException {
        if (!trouble.isEmpty()) {
            throw new NotExecutedException(trouble);
        }
        Session begun = new Session(store, signals, time, client, faults::isWhole);
        session = begun;
        store.join(begun, floor);
        signals.connected(SERVER);
    }

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        return faults.call(Verb.ATTEMPT, () -> store.attempt(session(), request));
    }

    @Override
    public Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
        return faults.call(Verb.ATTEMPT, () -> store.convert(session(), held, wanted));
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        return faults.call(Verb.RENEW, () -> {
            List<Answer> answers = new ArrayList<>(grants.size());
            for (Grant grant : grants) {
                answers.add(store.renew(session(), grant));
            }
            return answers;
        });
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return faults.call(Verb.RELEASE, () -> store.release(session(), grant));
    }

    @Override
    public Answer keep(Grant grant, Duration limit) throws Exception {
        return faults.call(Verb.RELEASE, () -> store.keep(session(), grant));
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        faults.call(Verb.WITHDRAW, () -> {
            store.withdraw(session(), request);
            return true;
        });
    }

    @Override
    public Set<Feature> features() {
        return features;
    }

    @Override
    public Guarantees guarantees() {
        return GUARANTEES;
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        return faults.call(Verb.ADMIN, () -> store.list(prefix, after, max));
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        return faults.call(Verb.ADMIN, () -> store.show(key));
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        return faults.call(Verb.ADMIN, () -> store.breakGrant(key, token, reason));
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        return faults.call(Verb.ADMIN, () -> store.availablePermits(key, capacity));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Leftovers leftovers = limit -> world.forget();
        return Stream.of(world, faults, store, leftovers)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (session != null) {
            store.leave(session);
        }
        world.leave();
    }

    /** The store sees the connection of this client break: that ends nothing (LK-510). */
    protected void connectionBroken() {}

    private void link(boolean stands) {
        Session begun = session;
        if (begun == null) {
            return;
        }
        if (stands) {
            begun.tell(client -> client.connected(SERVER));
        } else {
            begun.tell(client -> client.disconnected(SERVER, "connection reset"));
        }
    }

    /** Returns this client's life at the store. */
    protected final Session session() {
        Session begun = session;
        if (begun == null) {
            throw new IllegalStateException("not started");
        }
        return begun;
    }
}
