// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.LockClient;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Rules 1503, 1505 and 1512: what a verb of a {@code LockBackend} says when no answer comes. What it says is held
 * against what another client finds at the store, so that no failure of them depends on time.
 */
final class UnansweredVerbChecks {
    /** Of a call, 200 ms unless ttls are stretched. */
    private static Duration limit(CheckContext t) {
        return t.ttl(1, 6);
    }

    /** What a verb came to: its value, or what it threw. */
    private record Outcome(String verb, Optional<Object> value, Optional<Exception> thrown) {
        static Outcome of(String verb, Callable<?> call) throws InterruptedException {
            try {
                return new Outcome(verb, Optional.of(call.call()), Optional.empty());
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                return new Outcome(verb, Optional.empty(), Optional.of(e));
            }
        }

        boolean isNotExecuted() {
            return thrown.filter(NotExecutedException.class::isInstance).isPresent();
        }

        @Override
        public String toString() {
            return verb + "() "
                    + value.map(answer -> "returned " + answer).orElseGet(() -> "threw " + thrown.orElseThrow());
        }
    }

    private static boolean isTaken(LockClient other, String name) throws InterruptedException {
        return other.lock(name).tryAcquire().isEmpty();
    }

    @Check(rules = "LK-1503 LK-1402", requires = Requirement.WIRE)
    @Hint("Which exceptions become a NotExecutedException: those of connecting alone, or also those of a request "
            + "that was sent?")
    void whatWasCarriedOutIsNotSaidNotToBe(CheckContext t) throws Exception {
        ClientLink link = t.link("unanswered");
        BackendProbe probe = t.probe(link, "unanswered");
        LockClient other = t.client("other");
        Request request = probe.request(t.name(), t.longer(4));
        Request held = probe.request(t.name("held"), t.longer(4));
        Request left = probe.request(t.name("left"), t.longer(4));
        long sent = t.now();
        Grant grant = probe.granted(held, "a free lock was not granted");
        probe.granted(left, "a free lock was not granted");
        link.loseReplies();
        Outcome attempt = Outcome.of("attempt", () -> probe.attempt(request, limit(t)));
        Outcome release = Outcome.of("release", () -> probe.release(grant, limit(t)));
        Outcome withdrawal = Outcome.of("withdraw", () -> {
            probe.withdraw(left, limit(t));
            return "normally";
        });
        t.never(
                attempt.isNotExecuted() && isTaken(other, t.name()),
                "the answer to an attempt was lost, and " + attempt
                        + "; yet another client finds the lock taken: the attempt was carried out, and nobody will "
                        + "undo it");
        for (Outcome outcome : new Outcome[] {release, withdrawal}) {
            Request ended = outcome.equals(release) ? held : left;
            if (outcome.isNotExecuted()) {
                t.neverWithin(
                        sent,
                        t.longer(4),
                        !isTaken(other, ended.key().name().value()),
                        "the answer to a call was lost, and " + outcome
                                + "; yet another client finds the lock free, long before its ttl is over: the call "
                                + "was carried out");
            }
        }
        link.keepReplies();
        probe.withdrawInTime(request);
    }

    @Check(rules = "LK-1512 LK-1401", requires = Requirement.WIRE, from = Profile.SMOKE)
    @Hint("What does each verb do with an I/O error: is it thrown, or made into an answer?")
    void noAnswerIsMadeUp(CheckContext t) throws Exception {
        ClientLink link = t.link("unanswered");
        BackendProbe probe = t.probe(link, "unanswered");
        LockClient other = t.client("other");
        // So that what is lost is the answer to the attempt, and not that to a greeting.
        probe.release(probe.take(t.name("before"), t.longer(4)));
        Request request = probe.request(t.name(), t.longer(4));
        link.loseReplies();
        Outcome attempt = Outcome.of("attempt", () -> probe.attempt(request, limit(t)));
        boolean refused = attempt.value()
                .filter(result -> !(result instanceof Attempt.Granted))
                .isPresent();
        t.never(
                refused && isTaken(other, t.name()),
                "the answer to an attempt was lost, and " + attempt
                        + "; yet another client finds the lock taken, by the grant that this attempt came to");
        link.keepReplies();
        probe.withdrawInTime(request);

        Request held = probe.request(t.name("held"), t.longer(4));
        Grant grant = probe.grantedInTime(held, "a free lock was not granted when answers came again");
        link.cut();
        Outcome renewal = Outcome.of("renew", () -> probe.renew(limit(t), grant).get(0));
        Outcome release = Outcome.of("release", () -> probe.release(grant, limit(t)));
        Outcome withdrawal = Outcome.of("withdraw", () -> {
            probe.withdraw(held, limit(t));
            return "normally";
        });
        boolean inForce = isTaken(other, t.name("held"));
        for (Outcome outcome : new Outcome[] {renewal, release, withdrawal}) {
            boolean answered =
                    outcome.value().filter(value -> value != Answer.UNKNOWN).isPresent();
            t.never(
                    inForce && answered,
                    "nothing could reach the store, and " + outcome
                            + "; yet another client finds the lock taken, by the grant that this call was about");
        }
        link.heal();
        probe.withdrawInTime(held);
    }

    @Check(rules = "LK-1505", requires = Requirement.WIRE)
    @Hint("Is the limit of the call what bounds all of its waits, or the driver's own timeout?")
    void aVerbEndsWithinItsLimit(CheckContext t) throws Exception {
        ClientLink link = t.link("cut");
        BackendProbe probe = t.probe(link, "cut");
        Request held = probe.request(t.name(), t.longer(4));
        Grant grant = probe.granted(held, "a free lock was not granted");
        Request next = probe.request(t.name("next"), t.longer(4));
        link.cut();
        Map<String, Task<?>> calls = new LinkedHashMap<>();
        calls.put("attempt", t.start("attempt()", () -> probe.attempt(next, limit(t))));
        calls.put("renew", t.start("renew()", () -> probe.renew(limit(t), grant)));
        calls.put("release", t.start("release()", () -> probe.release(grant, limit(t))));
        calls.put("withdraw", t.start("withdraw()", () -> {
            probe.withdraw(held, limit(t));
            return true;
        }));
        Duration muchLater = limit(t).multipliedBy(20);
        t.happens(muchLater, () -> calls.values().stream().allMatch(Task::isDone));
        for (Map.Entry<String, Task<?>> call : calls.entrySet()) {
            t.expect(
                    call.getValue().isDone(),
                    call.getKey() + "() with a limit of " + text(limit(t)) + " had not ended " + text(muchLater)
                            + " after it was called while nothing answers");
        }
        link.heal();
        probe.withdrawInTime(next);
        probe.withdrawInTime(held);
    }
}
