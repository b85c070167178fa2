// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Owner;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads what scripts return. */
final class Replies {

    private Replies() {}

    static List<?> list(Object reply) {
        return (List<?>) reply;
    }

    static long number(Object reply) {
        return (Long) reply;
    }

    static String text(Object reply) {
        return new String((byte[]) reply, StandardCharsets.UTF_8);
    }

    /** The owners that follow the first two words. */
    static List<Owner> owners(List<?> words) {
        List<Owner> owners = new ArrayList<>(words.size() - 2);
        for (Object word : words.subList(2, words.size())) {
            owners.add(Owner.parse(text(word)));
        }
        return owners;
    }

    static List<LockStatus.Holder> holders(Object reply) {
        List<LockStatus.Holder> holders = new ArrayList<>();
        for (Object each : list(reply)) {
            List<?> words = list(each);
            Owner owner = Owner.parse(text(words.get(4)));
            long kept = number(words.get(5));
            holders.add(new LockStatus.Holder(
                    owner.client(),
                    mode(words),
                    (int) number(words.get(1)),
                    OptionalLong.of(Tokens.of(number(words.get(2)), number(words.get(6)))),
                    since(words),
                    owner.metadata(),
                    kept == 0 ? Optional.empty() : Optional.of(Duration.ofNanos(kept * 1000))));
        }
        return holders;
    }

    static List<LockStatus.Waiter> waiters(Object reply) {
        List<LockStatus.Waiter> waiters = new ArrayList<>();
        for (Object each : list(reply)) {
            List<?> words = list(each);
            Owner owner = Owner.parse(text(words.get(4)));
            waiters.add(new LockStatus.Waiter(
                    owner.client(),
                    mode(words),
                    (int) number(words.get(1)),
                    OptionalLong.empty(),
                    since(words),
                    owner.metadata()));
        }
        return waiters;
    }

    private static LockMode mode(List<?> words) {
        return switch (text(words.get(0))) {
            case "X" -> LockMode.EXCLUSIVE;
            case "S" -> LockMode.SHARED;
            default -> LockMode.PERMITS;
        };
    }

    private static Duration since(List<?> words) {
        return Duration.ofNanos(number(words.get(3)) * 1000);
    }
}
