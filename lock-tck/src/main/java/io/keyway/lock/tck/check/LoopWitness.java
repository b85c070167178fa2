// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.tck.CheckResult;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Counts how often the loops that backends run in the background end though their client goes on. */
final class LoopWitness {
    private final Map<String, Integer> ended = new TreeMap<>();

    /** The same backend, whose loops are counted. */
    LockBackend over(LockBackend backend) {
        return Altered.before(LockBackend.class, backend, "start", arguments -> {
            arguments[0] = heard((LockBackend.Signals) arguments[0]);
            return arguments;
        });
    }

    private LockBackend.Signals heard(LockBackend.Signals signals) {
        return Altered.before(LockBackend.Signals.class, signals, "background", arguments -> {
            arguments[1] = counted((String) arguments[0], (LockBackend.Loop) arguments[1]);
            return arguments;
        });
    }

    /** It counts when the loop begins again, which it does not once its client is closed. */
    private LockBackend.Loop counted(String name, LockBackend.Loop loop) {
        String[] last = {""};
        return () -> {
            if (!last[0].isEmpty()) {
                count(last[0]);
            }
            last[0] = name + " returned";
            try {
                loop.run();
            } catch (Exception e) {
                last[0] = name + " threw " + e;
                throw e;
            }
        };
    }

    private synchronized void count(String how) {
        ended.merge(how, 1, Integer::sum);
    }

    /** What is to be noted; empty if all went on. */
    synchronized Optional<String> note() {
        int times = ended.values().stream().mapToInt(Integer::intValue).sum();
        return ended.isEmpty() ? Optional.empty() : Optional.of(CheckResult.LOOPS_ENDED + times + " " + ended.keySet());
    }
}
