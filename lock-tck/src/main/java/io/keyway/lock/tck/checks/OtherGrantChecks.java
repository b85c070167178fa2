// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Expectations.Act;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.ArrayList;
import java.util.List;

/**
 * Rules 506 and 701, asked of the verbs of a {@code LockBackend}: what is said of one grant changes that one, and no
 * other of its client.
 */
final class OtherGrantChecks {
    @Check(rules = "LK-701 LK-513")
    @Hint("Which grants does a renewal extend: the one of its id and token, or all that its client has?")
    void aRenewalExtendsNoOtherGrantOfItsClient(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("renews");
        LockMode mode = t.has(Feature.READ_WRITE) ? LockMode.SHARED : LockMode.EXCLUSIVE;
        List<String> silent = new ArrayList<>(List.of(t.name("elsewhere")));
        Grant renewed = probe.take(t.name(), mode, t.ttl());
        if (mode == LockMode.SHARED) {
            probe.granted(probe.request(t.name(), mode, t.ttl()), "a second reader was not granted");
            silent.add(t.name());
        }
        probe.take(t.name("elsewhere"), t.ttl());
        LockClient rival = afterATermOfSilence(t, () -> probe.renew(renewed));
        probe.release(renewed);
        for (String name : silent) {
            t.expectFreeSoon(
                    rival,
                    name,
                    "a client renewed one of its grants and was silent about another, of "
                            + (name.equals(t.name()) ? "the same lock" : "another lock")
                            + "; its ttl is over, and it is still in force");
        }
    }

    @Check(rules = "LK-701")
    @Hint("Does a renewal compare the token, or find its grant by the id of the request alone?")
    void aRenewalByAnotherTokenChangesNothing(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("renews");
        Grant grant = probe.take(t.name(), t.ttl());
        Grant other = byAnotherToken(t, grant);
        t.never(
                probe.renew(other).contains(Answer.DONE),
                "a renewal was answered DONE whose token is not that of the grant: its holder would believe in what "
                        + "it does not have");
        LockClient rival = afterATermOfSilence(t, () -> probe.renew(other));
        t.expectFreeSoon(
                rival,
                t.name(),
                "a grant was renewed by a token that is not its own; its ttl is over, and it is still in force");
    }

    @Check(rules = "LK-701")
    @Hint("Does a release compare the token, or find its grant by the id of the request alone?")
    void aReleaseByAnotherTokenEndsNothing(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("releases");
        Grant grant = probe.take(t.name(), t.longer(8));
        long end = t.now() + t.longer(8).toNanos() / 100 * 90;
        t.never(
                probe.release(byAnotherToken(t, grant)) == Answer.DONE,
                "a release was answered DONE whose token is not that of the grant");
        t.neverBefore(
                end,
                t.client("rival").lock(t.name()).tryAcquire().isPresent(),
                "a release by a token that is not that of the grant has freed the lock");
        probe.release(grant);
    }

    /** Gives the check up where the store has a name of its own for each grant: that of another cannot be made up. */
    private static Grant byAnotherToken(CheckContext t, Grant grant) {
        if (!grant.cookie().isEmpty()) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the store knows its grants by cookies of its own");
        }
        return new Grant(grant.id(), grant.key(), grant.token() + 1, grant.ttl(), grant.cookie());
    }

    /**
     * Sends renewals until what another client has taken, and does not renew, has surely ended: everything that was
     * granted before, and was not renewed, is over as well. Returns one who may ask for it.
     */
    private static LockClient afterATermOfSilence(CheckContext t, Act renewal) throws Exception {
        BackendProbe silent = t.probe("silent");
        LockClient rival = t.client("rival");
        Grant control = silent.take(t.name("control"), t.ttl());
        Task<Lease> takes = t.acquiring("an acquire", rival, t.name("control"));
        for (int i = 0; i < 12 && !takes.isDone(); i++) {
            renewal.run();
            t.pass(t.ttl(1, 4));
        }
        if (!takes.isDone()) {
            silent.release(control);
            throw t.skipped(Verdict.NOT_APPLICABLE, "grants live on with their client's session");
        }
        takes.get().close();
        return rival;
    }

    @Check(rules = "LK-506 LK-701")
    @Hint("If one of several grants in a renewal is not in force: what is answered for the others?")
    void eachGrantOfARenewalHasItsOwnAnswer(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("renews");
        for (int gone = 0; gone < 3; gone++) {
            List<Grant> grants = new ArrayList<>();
            List<Answer> expected = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                grants.add(probe.take(t.freshName(), t.longer(8)));
                expected.add(i == gone ? Answer.NOT_HELD : Answer.DONE);
            }
            probe.release(grants.get(gone));
            t.expectEqual(
                    "the answers to the renewal of three grants in one call, of which number " + (gone + 1)
                            + " had been released,",
                    expected,
                    probe.renew(grants));
            for (Grant grant : grants) {
                probe.release(grant);
            }
        }
    }
}
