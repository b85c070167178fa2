// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockOptions;
import java.util.EnumSet;
import java.util.Set;

/** What Redis promises, by topology. */
final class RedisGuarantees {

    /** Of all topologies. */
    static final Set<Feature> FEATURES = Set.copyOf(
            EnumSet.complementOf(EnumSet.of(Feature.CACHING, Feature.TRANSACTIONS, Feature.TREE, Feature.NODE_SETS)));

    private RedisGuarantees() {}

    /** Of one server. */
    static Guarantees single() {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "as long as the server keeps its data (a restart may lose what it had not written to disk) and "
                                + "its clock is not set forward"),
                new Guarantee(
                        Grade.TIMED,
                        "as exclusion, if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(
                        Grade.TIMED,
                        "as long as the server keeps its data, or its clock is not set back after it lost them"),
                new Guarantee(Grade.NO, "there is one server"),
                LockOptions.MIN_TTL,
                LockOptions.MAX_TTL);
    }

    /** Of masters with replicas, to which writes go after they were answered. */
    static Guarantees replicated(RedisSettings settings) {
        int waitReplicas = settings.get(RedisOptions.WAIT_REPLICAS);
        String window = waitReplicas == 0
                ? "no replica need know of it (waitReplicas asks for some)"
                : "another replica than the " + waitReplicas + " that know of it may take over";
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "as long as no replica takes over that lacks a grant or its last renewal, or whose clock is "
                                + "ahead by a"
                                + " quarter of the ttl, the servers keep their data, and their clocks are not set "
                                + "forward"),
                new Guarantee(
                        Grade.TIMED,
                        "as exclusion, if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(
                        Grade.TIMED,
                        "as long as the clock of a replica that takes over is not behind by more than the fail-over "
                                + "takes"),
                new Guarantee(
                        Grade.NO,
                        "replicas learn of a grant after the answer: one that takes over may lack a grant or its last"
                                + " renewal, and what it lacks is given again; "
                                + window),
                LockOptions.MIN_TTL,
                LockOptions.MAX_TTL);
    }
}
