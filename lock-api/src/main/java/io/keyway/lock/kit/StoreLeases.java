// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The part of a {@link StoreMachine} that keeps what it holds: renewals, doubt, and the end of belief. */
final class StoreLeases {

    private final StoreMachine machine;
    private final StoreTimers timers;
    private final Conversions conversions;
    private final Map<Long, RenewalGroup> classes = new LinkedHashMap<>();

    StoreLeases(StoreMachine machine, StoreTimers timers, Conversions conversions) {
        this.machine = machine;
        this.conversions = conversions;
        this.timers = timers;
    }

    /** The entry holds now. */
    void add(StoreEntry entry, long now) {
        entry.renewDue = entry.echo + entry.ttl() / 2;
        RenewalGroup renewals = classOf(entry);
        renewals.add(entry);
        watch(entry, now);
    }

    /** The entry is not to be renewed any more. */
    void remove(StoreEntry entry) {
        classOf(entry).remove(entry);
    }

    void renewed(List<Grant> grants, long sentAt, List<Answer> answers, long now) {
        List<Grant> extended = new ArrayList<>();
        long deadline = sentAt;
        StoreEntry soonest = null;
        for (int i = 0; i < grants.size(); i++) {
            StoreEntry entry = machine.holder(grants.get(i));
            if (entry == null) {
                continue;
            }
            boolean old = entry.stale;
            boolean stale = answered(entry);
            // A lapse comes first: an answer read after a pause extends nothing that has ended.
            if (now - entry.deadline() >= 0) {
                lapse(entry, now);
                continue;
            }
            if (old) {
                entry.renewDue = now;
                soonest = sooner(soonest, entry);
                continue;
            }
            switch (i < answers.size() ? answers.get(i) : Answer.UNKNOWN) {
                case DONE -> {
                    entry.failures = 0;
                    if (sentAt - entry.echo > 0) {
                        entry.echo = sentAt;
                        deadline = entry.deadline();
                        extended.add(entry.held());
                    }
                    entry.renewDue = entry.echo + entry.ttl() / 2;
                    if (entry.doubted) {
                        entry.doubted = false;
                        machine.tell(new StoreEffect.Certain(entry.id()));
                    }
                }
                case NOT_HELD -> {
                    if (stale) {
                        retry(entry, now);
                        soonest = sooner(soonest, entry);
                        conversions.ask(entry);
                    } else {
                        end(entry, Cause.EXPIRED, "the store no longer holds it", now);
                    }
                }
                case UNKNOWN -> {
                    retry(entry, now);
                    soonest = sooner(soonest, entry);
                }
            }
        }
        if (!extended.isEmpty()) {
            machine.tell(new StoreEffect.Extended(extended, deadline));
        }
        if (soonest != null) {
            watch(soonest, now);
        }
    }

    void renewFailed(List<Grant> grants, long now) {
        StoreEntry soonest = null;
        for (Grant grant : grants) {
            StoreEntry entry = machine.holder(grant);
            if (entry != null) {
                answered(entry);
                retry(entry, now);
                soonest = sooner(soonest, entry);
            }
        }
        if (soonest != null) {
            watch(soonest, now);
        }
    }

    private static StoreEntry sooner(@Nullable StoreEntry one, StoreEntry other) {
        return one == null || other.renewDue - one.renewDue < 0 ? other : one;
    }

    /**
     * Something of that entry is due, now or sooner than before: the others of its class, which may be many, need no
     * look.
     */
    private void watch(StoreEntry entry, long now) {
        RenewalGroup renewals = classOf(entry);
        long due = renewals.due(entry, now + entry.ttl());
        if (now - due >= 0) {
            scan(renewals, now);
        } else if (!renewals.armed || due - renewals.due < 0) {
            timers.arm(renewals, due);
        }
    }

    /** All that back off, or are doubted, are renewed now. */
    void scanAll(long now) {
        for (RenewalGroup renewals : List.copyOf(classes.values())) {
            scan(renewals, now);
        }
    }

    void renewNow(StoreEntry entry, long now) {
        entry.renewDue = now;
        scan(classOf(entry), now);
    }

    void doubt(StoreEntry entry, String why) {
        if (!entry.doubted) {
            entry.doubted = true;
            machine.tell(new StoreEffect.Doubt(entry.id(), why));
        }
    }

    /** Belief has ended: at its deadline or, where its owner saw an earlier one pass, at the latest now. */
    void lapse(StoreEntry entry, long now) {
        long deadline = entry.deadline();
        machine.tell(new StoreEffect.Ended(entry.id(), Cause.EXPIRED, "no renewal was confirmed in time"));
        machine.startGrace(entry, entry.stoppedAt(now - deadline < 0 ? now : deadline), now);
    }

    /** Over by the store's word. */
    void end(StoreEntry entry, Cause cause, String detail, long now) {
        if (entry.phase == StoreEntry.Phase.HELD) {
            machine.tell(new StoreEffect.Ended(entry.id(), cause, detail));
            remove(entry);
        }
        machine.forgetGranted(entry, now);
    }

    void scan(RenewalGroup renewals, long now) {
        for (StoreEntry entry : renewals.lapsed(now)) {
            lapse(entry, now);
        }
        for (StoreEntry entry : renewals.doubtful(now)) {
            doubt(entry, "no renewal was confirmed for five eighths of the ttl");
        }
        for (List<Grant> batch : renewals.round(now)) {
            machine.tell(new StoreEffect.Renew(batch));
        }
        if (renewals.isEmpty()) {
            renewals.armed = false;
            classes.remove(renewals.ttl(), renewals);
            return;
        }
        timers.arm(renewals, renewals.next(now));
    }

    /** True if the renewal may have met the grant while it was another one: "not held" says nothing then. */
    private static boolean answered(StoreEntry entry) {
        boolean stale = entry.conversion != null || entry.renewedInConversion;
        entry.renewing = false;
        entry.stale = false;
        entry.renewedInConversion = false;
        return stale;
    }

    private void retry(StoreEntry entry, long now) {
        entry.failures++;
        entry.renewDue = now + Math.min(timers.backOff(entry.failures), Math.max(1, entry.ttl() / 16));
    }

    private RenewalGroup classOf(StoreEntry entry) {
        return classes.computeIfAbsent(entry.ttl(), RenewalGroup::new);
    }
}
