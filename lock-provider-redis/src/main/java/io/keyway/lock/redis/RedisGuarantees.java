// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockOptions;

/** What Redis promises, by topology. */
final class RedisGuarantees {

    private RedisGuarantees() {}

    static Guarantees single(RedisSettings settings) {
        return new Guarantees(
                new Guarantee(
                        Grade.TIMED,
                        "as long as the server keeps its data (a restart may lose what it had not written to disk) and its clock is not set forward"),
                new Guarantee(
                        Grade.TIMED,
                        "as exclusion, if clock rates differ by less than 1 % and the answer is used at once"),
                new Guarantee(
                        Grade.TIMED,
                        "as long as the server keeps its data or its clock, and that is not set back after the data was lost"),
                new Guarantee(Grade.NO, "there is one server"),
                LockOptions.MIN_TTL,
                LockOptions.MAX_TTL);
    }
}
