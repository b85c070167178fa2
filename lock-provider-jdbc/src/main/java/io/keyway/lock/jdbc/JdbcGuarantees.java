// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockOptions;
import io.keyway.lock.kit.table.RowBackend;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** What a table of locks promises. */
final class JdbcGuarantees {

    private static final Set<Feature> LOOKING = RowBackend.featuresWith(Feature.LIST);
    private static final Set<Feature> TOLD = RowBackend.featuresWith(Feature.LIST, Feature.WAKE_UP);

    /** What advisory locks offer. */
    static final Set<Feature> SESSION =
            Collections.unmodifiableSet(EnumSet.of(Feature.READ_WRITE, Feature.FENCING, Feature.WAKE_UP));

    private static final Duration SHORTEST = Duration.ofMillis(500);
    private static final String KEEPS = "as long as the database keeps what it has committed";

    private JdbcGuarantees() {}

    static Set<Feature> features(Dialect dialect) {
        return dialect.tells() ? TOLD : LOOKING;
    }

    static Guarantees table(Dialect dialect) {
        return new Guarantees(
                new Guarantee(Grade.TIMED, dialect.keeps() + ", and its clock is not set forward"),
                new Guarantee(
                        Grade.TIMED,
                        "as exclusion, if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(Grade.ALWAYS, dialect.keeps()),
                new Guarantee(Grade.NO, dialect.failover()),
                SHORTEST,
                LockOptions.MAX_TTL);
    }

    static Guarantees session() {
        return new Guarantees(
                new Guarantee(
                        Grade.NO,
                        "a lock is free as soon as its session with the server ends, also while its holder believes: a"
                                + " backend that is terminated, a connection that breaks, a server that restarts or"
                                + " fails over, a holder that is silent for its ttl"),
                new Guarantee(Grade.NO, "as exclusion: its holder hears of the end of the session late, or after that"),
                new Guarantee(Grade.ALWAYS, KEEPS),
                new Guarantee(Grade.NO, "no replica knows of advisory locks: one that takes over has none"),
                SHORTEST,
                LockOptions.MAX_TTL);
    }
}
