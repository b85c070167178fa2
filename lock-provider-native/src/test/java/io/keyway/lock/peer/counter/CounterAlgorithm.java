// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.counter;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A counter that members agree on by message. Each increment has a number of its own, and is said to one member; that
 * one forces it to disk and tells all others, who force it and say so; when all have, the client hears that it counts.
 * The value is the number of increments, wherever they were said.
 */
public final class CounterAlgorithm implements Algorithm {
    static final int ID = 200;

    /** How its members work: the right way, or with a flaw that the oracle must find. */
    public enum Flaw {
        NONE,
        /** Says that it has an increment, and forces nothing. */
        FORCES_NOTHING,
        /** Answers when one other member has the increment. */
        ANSWERS_EARLY,
        /** Does not say again what may have been lost with a session. */
        SAYS_ONCE
    }

    private final Flaw flaw;

    public CounterAlgorithm() {
        this(Flaw.NONE);
    }

    public CounterAlgorithm(Flaw flaw) {
        this.flaw = flaw;
    }

    /** The counter of that name. */
    public static Key key(String name) {
        return new Key(ID, name);
    }

    @Override
    public int id() {
        return ID;
    }

    @Override
    public String name() {
        return "counter";
    }

    @Override
    public BodyCodec codec() {
        return new CounterCodec();
    }

    @Override
    public MachineFactory memberMachines(Predicate<String> owned) {
        return key -> new CounterMember(key, flaw);
    }

    @Override
    public MachineFactory clientMachines() {
        return CounterClient::new;
    }

    @Override
    public boolean talksToMembers() {
        return true;
    }

    @Override
    public Optional<RecordCodec> records() {
        return Optional.of(new CounterCodec.Records());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return EnumSet.noneOf(Feature.class);
    }

    @Override
    public Guarantees guarantees(Scope scope, Duration maxTtl) {
        Guarantee none = new Guarantee(Grade.NO, "a counter locks nothing");
        return new Guarantees(none, none, none, none, maxTtl, maxTtl);
    }
}
