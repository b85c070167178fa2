// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

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
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.reference.ReferenceFaults.Verb;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One client's way to a {@link ReferenceStore}. */
public final class ReferenceBackend implements LockBackend {

    /** What it offers unless the URL says otherwise. */
    public static final Set<Feature> FEATURES = Set.of(
            Feature.READ_WRITE,
            Feature.UPGRADE,
            Feature.SEMAPHORE,
            Feature.FENCING,
            Feature.FIFO,
            Feature.LIST,
            Feature.BREAK,
            Feature.WAKE_UP);

    private static final Guarantee ALWAYS = new Guarantee(Grade.ALWAYS, "");
    private static final Guarantee TIMED = new Guarantee(Grade.TIMED, "clock rates within 1 %");
    private static final Guarantee NO = new Guarantee(Grade.NO, "one process");

    private final ReferenceStore store;
    private final Set<Feature> features;
    private final boolean unreachable;
    private final ReferenceFaults faults = new ReferenceFaults();
    private ReferenceStore.@Nullable Session session;
    private @Nullable Signals signals;

    /** Makes the way to that store. */
    public ReferenceBackend(ReferenceStore store, Set<Feature> features, boolean unreachable) {
        this.unreachable = unreachable;
        this.store = store;
        this.features = features;
    }

    @Override
    public void start(Signals told, Incarnation client) throws IOException {
        if (unreachable) {
            throw new IOException("connection refused");
        }
        signals = told;
        session = new ReferenceStore.Session(told);
        told.connected("reference");
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
            List<Answer> answers = new ArrayList<>();
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
        return new Guarantees(ALWAYS, TIMED, ALWAYS, NO, LockOptions.MIN_TTL, Duration.ofHours(1));
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
        Object found = type == ReferenceStore.class ? store : type == ReferenceFaults.class ? faults : signals;
        return type.isInstance(found) ? Optional.of(type.cast(found)) : Optional.empty();
    }

    @Override
    public void close() {}

    private ReferenceStore.Session session() {
        ReferenceStore.Session started = session;
        if (started == null) {
            throw new IllegalStateException("not started");
        }
        return started;
    }
}
