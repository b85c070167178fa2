// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Rules 1107 to 1109: watchers of one lock. */
final class WatchChecks {

    /** What one watcher was told, and what must hold of it at any time. */
    private static final class Told {
        private final List<LockSnapshot> all = new CopyOnWriteArrayList<>();
        private final Duration every;
        private final Subscription watch;

        Told(CheckContext t, LockClient client) {
            every = t.ttl(1, 8);
            watch = t.subject().watches().over(client, t.key(t.name()), every, all::add);
        }

        boolean last(Predicate<LockSnapshot> test) {
            return !all.isEmpty() && test.test(all.get(all.size() - 1));
        }

        boolean lastIsHeldBy(long token) {
            return last(told -> told.status().holders().stream()
                    .anyMatch(holder -> holder.token().equals(OptionalLong.of(token))));
        }

        void expectForward(CheckContext t) {
            long version = 0;
            long token = 0;
            for (LockSnapshot each : all) {
                t.expect(each.version() > version, "the version of a snapshot is not higher than the one before");
                version = each.version();
                for (LockStatus.Holder holder : each.status().holders()) {
                    t.expect(
                            holder.token().orElse(token) >= token,
                            "a watcher was told of a holder after it had been told of a later one");
                    token = Math.max(token, holder.token().orElse(token));
                }
            }
        }
    }

    @Check(rules = "LK-1107 LK-1108", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Does a watcher ask as soon as it begins, and again after its interval?")
    void aWatcherIsToldOfEachStateThatLasts(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Told told = new Told(t, t.client("watcher"));
        t.until("a watcher is told of a lock that is free", () -> told.last(LockSnapshot::isFree));
        Lease first = holder.lock(t.name()).acquire();
        t.until(
                "a watcher is told of the holder",
                () -> told.last(now -> now.status().holders().size() == 1
                        && now.status().holders().get(0).client().equals(holder.name())));
        LockClient next = t.client("next");
        Task<Lease> waits = t.acquiring("the next one's acquire", next, t.name());
        t.untilWaiting(holder, t.name(), 1);
        t.until(
                "a watcher is told of who waits",
                () -> told.last(now -> now.status().waiters().size() == 1
                        && now.status().waiters().get(0).client().equals(next.name())));
        first.release();
        Lease second = waits.get();
        t.until(
                "a watcher is told of the next holder",
                () -> told.last(now -> now.status().waiters().isEmpty()
                        && now.status().holders().size() == 1
                        && now.status().holders().get(0).client().equals(next.name())));
        second.release();
        t.until("a watcher is told that nobody holds any more", () -> told.last(LockSnapshot::isFree));
        told.expectForward(t);
        told.watch.close();
        int before = told.all.size();
        Lease late = holder.lock(t.name()).acquire();
        t.pass(told.every.multipliedBy(3));
        t.expectEqual("the snapshots told a while after the close of a watcher", before, told.all.size());
        late.release();
        Told other = new Told(t, t.client("watcher"));
        Lease last = holder.lock(t.name()).acquire();
        t.until("a later watcher is told", () -> other.last(now -> !now.isFree()));
        last.release();
        other.watch.close();
    }

    @Check(
            rules = "LK-1108",
            needs = {Feature.LIST, Feature.FENCING})
    @Hint("Can an answer that was asked for earlier come after a later one?")
    void aWatcherNeverSeesThePast(CheckContext t) throws Exception {
        Told told = new Told(t, t.client("watcher"));
        LockClient[] clients = {t.client("one"), t.client("other")};
        for (int i = 0; i < 8; i++) {
            Lease lease = t.acquired("the lock that is watched", clients[i % 2], t.name());
            t.until("a watcher is told of holder " + i, () -> told.lastIsHeldBy(lease.token()));
            lease.release();
        }
        t.until("a watcher is told that nobody holds any more", () -> told.last(LockSnapshot::isFree));
        told.expectForward(t);
        told.watch.close();
    }

    @Check(rules = "LK-1109", requires = Requirement.LINK, needs = Feature.LIST)
    @Hint("What is told when a question is not answered?")
    void aWatcherIsToldWhenNobodyAnswers(CheckContext t) throws Exception {
        ClientLink link = t.link("watcher");
        Lease lease = t.acquired("the lock that is watched", t.client("holder"), t.name());
        Told told = new Told(t, link.client());
        t.until("a watcher is told of the holder", () -> told.last(now -> !now.isFree() && now.certain()));
        link.cut();
        t.until("a watcher that hears nothing is told so", () -> told.last(now -> !now.certain()));
        t.expect(
                told.last(now -> !now.isFree()),
                "a watcher that hears nothing was told that the lock is free, which it was not when it was heard last");
        link.heal();
        t.until(
                "a watcher that hears something again is told so",
                () -> told.last(now -> now.certain() && !now.isFree()));
        told.expectForward(t);
        told.watch.close();
        lease.release();
    }

    @Check(rules = "LK-1107", requires = Requirement.SERVER, needs = Feature.LIST, alone = true)
    @Hint("Does a watcher ask again after the connection was lost?")
    void aWatcherOutlastsARestartOfTheServer(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Told told = new Told(t, t.client("watcher"));
        Lease before = t.acquired("an acquire before the restart", holder, t.name());
        t.until("a watcher is told of the holder", () -> told.last(now -> !now.isFree()));
        before.release();
        t.server().kill();
        t.server().restart();
        // Another client: the first one could have it from its cache, and lose it while the server is away.
        LockClient next = t.client("next");
        Lease after = t.acquired("an acquire after the restart", next, t.name());
        t.until(
                "a watcher is told of the holder after a restart",
                () -> told.last(now -> now.certain()
                        && now.status().holders().stream()
                                .anyMatch(each -> each.client().equals(next.name())
                                        && each.token().equals(OptionalLong.of(after.token())))));
        after.release();
        told.watch.close();
    }

    @Check(rules = "LK-1107 LK-1403", lacks = Feature.LIST, from = Profile.SMOKE)
    @Hint("What does watch() say where the store cannot be asked?")
    void whoCannotListRefusesToWatch(CheckContext t) throws Exception {
        LockClient client = t.client("watcher");
        t.expectThrows(
                "watch() without LIST",
                UnsupportedFeatureException.class,
                () -> t.subject().watches().over(client, t.key(t.name()), t.ttl(), told -> {}));
    }
}
