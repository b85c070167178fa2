// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What searches see of the locks of trees that a transaction was asked for. */
public final class WishesTwin {
    private final Wishes wishes = new Wishes(true);

    /** One who was asked for these, and has been told of none. */
    public WishesTwin(List<LockRequest> asked) {
        for (LockRequest each : asked) {
            wishes.add(each.name(), each.mode(), true, false, 0);
        }
    }

    /** The levels that can be asked for now, each in the mode that it is needed in. */
    public List<LockRequest> next(Function<LockName, @Nullable LockMode> held, Predicate<LockName> pending) {
        return wishes.next(held, pending).stream()
                .map(each -> new LockRequest(each.name(), each.mode()))
                .toList();
    }

    /** Whether a level is not held that is needed. */
    public boolean lacks(Function<LockName, @Nullable LockMode> held) {
        return wishes.lacks(held, lock -> false);
    }
}
