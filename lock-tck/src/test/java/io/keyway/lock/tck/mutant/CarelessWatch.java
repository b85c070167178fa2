// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A good watcher in whose words a careless author changed one thing. */
final class CarelessWatch implements Consumer<LockSnapshot> {
    /** What he did not think of. */
    enum Defect {
        NOT_AT_ONCE("LK-1107"),
        TOLD_ONCE("LK-1107"),
        HOLDERS_ALONE("LK-1107"),
        TOLD_AFTER_CLOSE("LK-1107"),
        ONE_VERSION("LK-1107"),
        GOES_BACK("LK-1108"),
        DOUBT_UNTOLD("LK-1109"),
        SILENCE_IS_FREEDOM("LK-1109");

        /** The first rule of a check that finds it. */
        final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    private final Defect defect;
    private final Consumer<LockSnapshot> listener;
    private final AtomicReference<@Nullable LockSnapshot> held = new AtomicReference<>();
    private int told;
    private long version;

    private CarelessWatch(Defect defect, Consumer<LockSnapshot> listener) {
        this.defect = defect;
        this.listener = listener;
    }

    static Subscription begin(
            Defect defect, LockClient client, LockKey key, Duration every, Consumer<LockSnapshot> listener) {
        Subscription good = client.watch(key, every, new CarelessWatch(defect, listener));
        return defect == Defect.TOLD_AFTER_CLOSE ? () -> {} : good;
    }

    @Override
    public void accept(LockSnapshot now) {
        told++;
        switch (defect) {
            case NOT_AT_ONCE -> {
                if (told > 1) {
                    listener.accept(now);
                }
            }
            case TOLD_ONCE -> {
                if (told == 1) {
                    listener.accept(now);
                }
            }
            case HOLDERS_ALONE ->
                listener.accept(new LockSnapshot(
                        now.version(),
                        new LockStatus(now.status().key(), now.status().holders(), List.of()),
                        now.certain()));
            case ONE_VERSION -> listener.accept(new LockSnapshot(1, now.status(), now.certain()));
            case GOES_BACK -> {
                LockSnapshot before = held.get();
                listener.accept(new LockSnapshot(++version, now.status(), now.certain()));
                if (before != null && !now.isFree()) {
                    listener.accept(new LockSnapshot(++version, before.status(), true));
                    listener.accept(new LockSnapshot(++version, now.status(), now.certain()));
                }
                held.set(now.isFree() ? before : now);
            }
            case DOUBT_UNTOLD -> {
                if (now.certain()) {
                    listener.accept(now);
                }
            }
            case SILENCE_IS_FREEDOM ->
                listener.accept(
                        now.certain()
                                ? now
                                : new LockSnapshot(
                                        now.version(),
                                        new LockStatus(now.status().key(), List.of(), List.of()),
                                        false));
            default -> listener.accept(now);
        }
    }
}
