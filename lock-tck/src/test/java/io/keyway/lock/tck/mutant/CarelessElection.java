// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.ElectionListener;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockedFunction;
import io.keyway.lock.Subscription;
import io.keyway.lock.tck.wrap.Proxies;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A good election in whose answers a careless author changed one thing. */
final class CarelessElection implements Election {
    /** What he did not think of. */
    enum Defect {
        LEADS_UNTIL_CLOSED("LK-1801"),
        EVERYBODY_LEADS("LK-1801"),
        TOKEN_OF_NOBODY("LK-1803"),
        ELECTED_TWICE("LK-1803"),
        SURRENDER_UNTOLD("LK-1803"),
        LOSS_LEFT_OUT("LK-1803"),
        DOUBT_UNTOLD("LK-1804"),
        STANDS_ONCE("LK-1805"),
        CLOSE_KEEPS_ITS_PLACE("LK-1805"),
        GIVES_BACK_FIRST("LK-1806"),
        RELEASE_GIVES_BACK_FIRST("LK-1806"),
        CLOSE_GIVES_BACK_FIRST("LK-1806"),
        HAND_OVER_GIVES_BACK_FIRST("LK-1806"),
        LEADER_SHOWN_LAST("LK-1807"),
        NAMES_OF_CLIENTS("LK-1807"),
        HANDS_OVER_TO_ANYBODY("LK-1808"),
        HAND_OVER_NEVER_FAILS("LK-1808"),
        OBSERVES_ONCE("LK-1809"),
        WORK_GOES_ON("LK-1810"),
        RESULT_OF_A_LOST_RUN("LK-1810"),
        STANDS_BESIDE_ITS_WORK("LK-1810");

        /** The first rule of a check that finds it. */
        final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    private final Defect defect;
    private final LockClient client;
    private final Election good;

    private CarelessElection(Defect defect, LockClient client, Election good) {
        this.defect = defect;
        this.client = client;
        this.good = good;
    }

    static Election of(Defect defect, LockClient client, LockName name) {
        LockName own = defect == Defect.EVERYBODY_LEADS ? LockName.of(name + "/" + client.name()) : name;
        return new CarelessElection(defect, client, client.election(own));
    }

    @Override
    public LockName name() {
        return good.name();
    }

    @Override
    public Election with(LockOptions options) {
        return new CarelessElection(defect, client, good.with(options));
    }

    @Override
    public Election as(String candidate) {
        return defect == Defect.NAMES_OF_CLIENTS ? this : new CarelessElection(defect, client, good.as(candidate));
    }

    @Override
    public Candidacy stand(ElectionListener listener) {
        AtomicReference<Candidacy> own = new AtomicReference<>();
        AtomicReference<Defect> end = new AtomicReference<>(Defect.RELEASE_GIVES_BACK_FIRST);
        AtomicBoolean led = new AtomicBoolean();
        Candidacy candidacy = good.stand(event -> {
            led.compareAndSet(false, event.type() == ElectionEvent.Type.ELECTED);
            if (event.type() == ElectionEvent.Type.SURRENDERED) {
                givesBackFirst(event, end.getAndSet(Defect.RELEASE_GIVES_BACK_FIRST));
            }
            if (defect == Defect.STANDS_ONCE && event.type() == ElectionEvent.Type.SURRENDERED) {
                Optional.ofNullable(own.get()).ifPresent(Candidacy::close);
            }
            hear(listener, event);
        });
        own.set(candidacy);
        return Proxies.of(Candidacy.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "isLeading" ->
                defect == Defect.LEADS_UNTIL_CLOSED ? led.get() || candidacy.isLeading() : candidacy.isLeading();
            case "surrender" -> {
                end.set(Defect.GIVES_BACK_FIRST);
                led.set(false);
                candidacy.surrender();
                yield null;
            }
            case "handOver" -> {
                end.set(Defect.HAND_OVER_GIVES_BACK_FIRST);
                yield handOver(candidacy, method, arguments);
            }
            case "close" -> {
                end.set(Defect.CLOSE_GIVES_BACK_FIRST);
                led.set(false);
                if (defect != Defect.CLOSE_KEEPS_ITS_PLACE || candidacy.isLeading()) {
                    candidacy.close();
                }
                yield null;
            }
            default -> Proxies.pass(candidacy, method, arguments);
        });
    }

    /** So that the lock is free when the listener hears of that end. */
    private void givesBackFirst(ElectionEvent event, Defect end) {
        if (defect == end && event.loss().isEmpty()) {
            try {
                client.admin().breakLease(LockKey.lock(name()), event.token().orElseThrow(), "the defect");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void hear(ElectionListener listener, ElectionEvent event) {
        boolean surrendered = event.type() == ElectionEvent.Type.SURRENDERED;
        if ((defect == Defect.SURRENDER_UNTOLD && surrendered)
                || (defect == Defect.DOUBT_UNTOLD && event.type() == ElectionEvent.Type.UNCERTAIN)) {
            return;
        }
        OptionalLong token = defect == Defect.TOKEN_OF_NOBODY ? OptionalLong.of(0) : event.token();
        listener.onEvent(new ElectionEvent(
                event.type(),
                event.election(),
                event.leader(),
                token,
                defect == Defect.LOSS_LEFT_OUT ? Optional.empty() : event.loss()));
        if (defect == Defect.ELECTED_TWICE && event.type() == ElectionEvent.Type.ELECTED) {
            listener.onEvent(event);
        }
    }

    private @Nullable Object handOver(Candidacy candidacy, Method method, @Nullable Object... arguments)
            throws Throwable {
        if (defect == Defect.HANDS_OVER_TO_ANYBODY && !"a stranger".equals(arguments[0])) {
            candidacy.surrender();
            return true;
        }
        Object outcome = Proxies.pass(candidacy, method, arguments);
        if (defect == Defect.HAND_OVER_NEVER_FAILS) {
            return true;
        }
        return outcome;
    }

    @Override
    public <T, X extends Exception> T lead(LockedFunction<T, X> work) throws X, InterruptedException {
        if (defect == Defect.WORK_GOES_ON) {
            try (Lease lease = client.lock(good.name()).acquire()) {
                return work.apply(lease);
            }
        }
        if (defect == Defect.STANDS_BESIDE_ITS_WORK) {
            return leadBeside(work);
        }
        AtomicInteger runs = new AtomicInteger();
        AtomicReference<T> first = new AtomicReference<>();
        return good.lead(lease -> {
            T result = runs.getAndIncrement() > 0 && defect == Defect.RESULT_OF_A_LOST_RUN
                    ? first.get()
                    : work.apply(lease);
            first.compareAndSet(null, result);
            return result;
        });
    }

    private <T, X extends Exception> T leadBeside(LockedFunction<T, X> work) throws X, InterruptedException {
        Thread worker = Thread.currentThread();
        try (Candidacy candidacy = good.stand()) {
            while (true) {
                Lease lease;
                try {
                    lease = candidacy.elected().toCompletableFuture().get();
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e);
                }
                lease.lost().thenAccept(loss -> worker.interrupt());
                T result = work.apply(lease);
                if (lease.state() != Lease.State.LOST) {
                    return result;
                }
                Thread.interrupted();
            }
        }
    }

    @Override
    public Subscription observe(ElectionListener listener, Duration every) {
        AtomicInteger told = new AtomicInteger();
        return good.observe(
                event -> {
                    if (defect != Defect.OBSERVES_ONCE || told.getAndIncrement() == 0) {
                        listener.onEvent(event);
                    }
                },
                every);
    }

    @Override
    public Optional<Candidate> leader() throws InterruptedException {
        return good.leader();
    }

    @Override
    public List<Candidate> candidates() throws InterruptedException {
        List<Candidate> all = new ArrayList<>(good.candidates());
        if (defect == Defect.LEADER_SHOWN_LAST) {
            Collections.reverse(all);
        }
        return all;
    }
}
