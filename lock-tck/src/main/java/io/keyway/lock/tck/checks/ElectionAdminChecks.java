// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.checks.ElectionChecks.election;
import static io.keyway.lock.tck.checks.ElectionChecks.ends;
import static io.keyway.lock.tck.checks.ElectionChecks.isInTime;
import static io.keyway.lock.tck.checks.ElectionChecks.lasting;
import static io.keyway.lock.tck.checks.ElectionChecks.leads;
import static io.keyway.lock.tck.checks.ElectionChecks.token;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Rules 1806 to 1809: an election as administrators and observers see it, and as it is handed over. */
final class ElectionAdminChecks {
    @Check(rules = "LK-1807", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Where do the leader and the candidates come from, and under which names?")
    void theLeaderAndTheCandidatesAreShown(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        LockClient looker = t.client("looker");
        t.expectEqual(
                "the candidates of an election in which nobody stands",
                List.of(),
                election(t, looker).candidates());
        Candidacy first = election(t, client).stand();
        leads(t, "the only candidate", first);
        Candidacy second = election(t, t.client("second")).as("the second").stand();
        t.untilWaiting(looker, t.name(), 1);
        Candidacy third = election(t, t.client("third")).as("the third").stand();
        t.untilWaiting(looker, t.name(), 2);
        List<Candidate> shown = election(t, looker).candidates();
        List<String> names = shown.stream().map(Candidate::name).toList();
        List<String> all = List.of(client.name(), "the second", "the third");
        t.expect(
                t.has(Feature.FIFO)
                        ? names.equals(all)
                        : List.copyOf(names.subList(0, 1)).equals(all.subList(0, 1)) && names.containsAll(all),
                "the candidates should be " + all + ", the leader first, and are " + names);
        t.expectEqual(
                "who leads among those shown",
                List.of(true, false, false),
                shown.stream().map(Candidate::leads).toList());
        t.expectEqual(
                "the token shown of the leader",
                token(t, first),
                shown.get(0).token().orElse(-1));
        t.expectEqual(
                "the leader",
                client.name(),
                election(t, looker).leader().map(Candidate::name).orElse("none"));
        ends(third, second, first);
        // Whoever waits withdraws without waiting for the answer, and may be granted the lock until that is heard.
        t.until(
                "nobody is shown as the leader of an election in which nobody stands",
                () -> election(t, looker).leader().isEmpty());
    }

    @Check(rules = "LK-1807 LK-1403", lacks = Feature.LIST, from = Profile.SMOKE)
    @Hint("What do questions about candidates say where the store cannot be asked?")
    void whoCannotListRefusesToShow(CheckContext t) throws Exception {
        Election election = election(t, t.client("looker"));
        t.expectThrows("candidates() without LIST", UnsupportedFeatureException.class, election::candidates);
        t.expectThrows("leader() without LIST", UnsupportedFeatureException.class, election::leader);
        t.expectThrows(
                "observe() without LIST", UnsupportedFeatureException.class, () -> election.observe(event -> {}));
    }

    @Check(rules = "LK-1808", needs = Feature.LIST)
    @Hint("What keeps a candidate that is granted the lock first from leading during a hand-over to another?")
    void aLeadershipIsHandedOverToTheOneThatIsNamed(CheckContext t) throws Exception {
        LockClient looker = t.client("looker");
        Candidacy first = election(t, t.client("first")).stand();
        leads(t, "the only candidate", first);
        List<ElectionEvent> passedOver = new CopyOnWriteArrayList<>();
        Candidacy second = election(t, t.client("second")).as("the second").stand(passedOver::add);
        t.untilWaiting(looker, t.name(), 1);
        Candidacy third = election(t, t.client("third")).as("the third").stand();
        t.untilWaiting(looker, t.name(), 2);
        boolean nobody = t.call("a hand-over to nobody", () -> first.handOver("a stranger", t.ttl()));
        t.expect(!nobody, "a hand-over to a candidate that does not stand is said to have succeeded");
        t.expect(
                first.isLeading(), "a leader tried to hand over to a candidate that does not stand, and leads no more");
        Task<Boolean> handOver = t.start("a hand-over", () -> first.handOver("the third", t.patience()));
        t.expect(handOver.get(), "a hand-over to a candidate that stands has failed");
        t.until("the one to which the leadership was handed over leads", third::isLeading);
        t.expectEqual("what the candidate was told that was not named", List.of(), passedOver);
        t.expect(!first.isLeading(), "a leader that has handed over leads");
        third.close();
        t.until(
                "one of the others leads when the one to which was handed over is gone",
                () -> second.isLeading() || first.isLeading());
        ends(first, second);
    }

    @Check(rules = "LK-1806 LK-1808", needs = Feature.LIST)
    @Hint("Is the lock given to the one that is named before the listener of the leader is notified?")
    void aListenerIsToldBeforeALeadershipThatIsHandedOverGoesOn(CheckContext t) throws Exception {
        LockClient looker = t.connected("looker");
        AtomicReference<List<Long>> held = new AtomicReference<>();
        AtomicLong took = new AtomicLong();
        List<Exception> failures = new CopyOnWriteArrayList<>();
        Candidacy first = election(t, t.client("first")).with(lasting(t)).stand(event -> {
            if (event.type() == ElectionEvent.Type.SURRENDERED && held.get() == null) {
                long asked = t.now();
                try {
                    List<Long> tokens = t.status(looker, t.key(t.name())).holders().stream()
                            .flatMapToLong(holder -> holder.token().stream())
                            .boxed()
                            .toList();
                    took.set(t.now() - asked);
                    held.set(tokens);
                } catch (InterruptedException | RuntimeException e) {
                    failures.add(e);
                }
            }
        });
        leads(t, "the only candidate", first);
        long token = token(t, first);
        Candidacy second = election(t, t.client("second")).as("the second").stand();
        t.untilWaiting(looker, t.name(), 1);
        Task<Boolean> handOver = t.start("a hand-over", () -> first.handOver("the second", t.patience()));
        t.until("a leader that hands over is notified", () -> held.get() != null || !failures.isEmpty());
        handOver.get();
        ends(first, second);
        t.expectEqual("failures of a look at the lock", List.of(), failures);
        if (!List.of(token).equals(held.get())) {
            isInTime(t, took.get());
        }
        t.expectEqual(
                "the tokens of the lock's holders when a leader that hands over was notified",
                List.of(token),
                held.get());
    }

    @Check(rules = "LK-1808", needs = Feature.LIST)
    @Hint("Who leads when the one to which is handed over is not heard?")
    void aHandOverThatFailsLeavesTheElectionToTheOthers(CheckContext t) throws Exception {
        Candidacy first = election(t, t.client("first")).stand();
        leads(t, "the only candidate", first);
        LockClient silent = t.client("silent");
        // It waits in the queue under that name, and takes nothing.
        Task<Lease> waits = t.start("one that stands and never leads", () -> {
            Lease lease = silent.lock(t.name())
                    .with(LockOptions.none().withMetadata(Map.of("candidate", "the silent")))
                    .acquire();
            lease.release();
            return lease;
        });
        t.untilWaiting(silent, t.name(), 1);
        Candidacy second = election(t, t.client("second")).stand();
        t.untilWaiting(silent, t.name(), 2);
        Task<Boolean> handOver =
                t.start("a hand-over to one that does not lead", () -> first.handOver("the silent", t.ttl()));
        waits.get();
        handOver.get();
        t.until(
                "somebody leads after a hand-over to one that did not stay",
                () -> second.isLeading() || first.isLeading());
        ends(second, first);
    }

    @Check(rules = "LK-1809", needs = Feature.LIST)
    @Hint("How does an observer learn of the next leader?")
    void anObserverIsToldOfEachLeader(CheckContext t) throws Exception {
        List<ElectionEvent> events = new CopyOnWriteArrayList<>();
        Duration interval = t.ttl(1, 8);
        Subscription observer = election(t, t.client("observer")).observe(events::add, interval);
        Candidacy first = election(t, t.client("first")).as("the first").stand();
        leads(t, "the only candidate", first);
        long one = token(t, first);
        t.until("an observer is told of the leader", () -> events.size() >= 1);
        Candidacy second = election(t, t.client("second")).as("the second").stand();
        first.close();
        leads(t, "the second candidate, after the close of the first,", second);
        long two = token(t, second);
        t.until("an observer is told of the next leader", () -> events.size() >= 3);
        second.close();
        t.until("an observer is told that nobody leads", () -> events.size() >= 4);
        List<String> told = events.stream()
                .filter(event ->
                        event.type() != ElectionEvent.Type.UNCERTAIN && event.type() != ElectionEvent.Type.CERTAIN)
                .map(event -> event.type() + " " + event.leader() + " "
                        + event.token().orElse(-1))
                .toList();
        t.expectEqual(
                "what an observer was told",
                List.of(
                        "ELECTED the first " + one,
                        "SURRENDERED the first " + one,
                        "ELECTED the second " + two,
                        "SURRENDERED the second " + two),
                told);
        observer.close();
        int before = events.size();
        Candidacy third = election(t, t.client("third")).stand();
        leads(t, "the third candidate", third);
        t.pass(interval.multipliedBy(3));
        t.expectEqual("the events told to an observer, a while after its close", before, events.size());
        third.close();
    }
}
