// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;

/** Rules 502, 701, 1105, 1204, 1501 and 1502: conversions, asked of the verb of a {@code LockBackend}. */
final class ConversionChecks {
    private static Grant reads(CheckContext t, BackendProbe probe) throws Exception {
        return reads(t, probe, t.longer(8));
    }

    private static Grant reads(CheckContext t, BackendProbe probe, Duration ttl) throws Exception {
        return probe.granted(probe.request(t.name(), LockMode.SHARED, ttl), "a reader was not granted");
    }

    /** After 3/4 of a ttl the lock is still taken, if no more has passed since then. */
    private static void isKeptSince(CheckContext t, long sent, LockClient rival, String otherwise) throws Exception {
        t.pass(t.ttl(3, 4));
        t.neverWithin(sent, t.ttl(), rival.lock(t.name()).tryAcquire().isPresent(), "3/4 of a ttl after " + otherwise);
    }

    private static void breakIt(CheckContext t, Grant grant) throws Exception {
        t.expect(
                t.client("operator").admin().breakLease(grant.key(), grant.token(), "to see what its upgrade comes to"),
                "a grant in force was not broken");
    }

    @Check(
            rules = "LK-502 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("From when does the ttl of a converted grant run: from its conversion, or from the grant that it was?")
    void aConvertedGrantHasAWholeTerm(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        LockClient rival = t.client("rival");
        Grant read = reads(t, probe, t.ttl());
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Grant write = converted(t, probe, read, probe.request(t.name(), t.ttl()));
        isKeptSince(t, sent, rival, "an upgrade another client has the lock: its ttl was that of the read grant");
        probe.release(write);
    }

    @Check(
            rules = "LK-1205 LK-502",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("For how long is the read grant kept that an upgrade becomes again when it is withdrawn: for the rest of "
            + "the upgrade's ttl, or of its own?")
    void theReadGrantOfAWithdrawnUpgradeHasTheTermOfTheUpgrade(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        LockClient rival = t.client("rival");
        Grant read = reads(t, probe, t.ttl());
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Request wanted = probe.request(t.name(), t.ttl());
        converted(t, probe, read, wanted);
        probe.withdraw(wanted);
        isKeptSince(
                t,
                sent,
                rival,
                "an upgrade that was withdrawn a writer has the lock: the read grant was given its old ttl, which "
                        + "its client had extended by the upgrade");
        probe.release(read);
    }

    @Check(
            rules = "LK-1105 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE, Feature.BREAK})
    @Hint("Does a conversion look whether the grant that it converts was broken?")
    void aBrokenReaderIsNotUpgraded(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        Grant read = reads(t, probe);
        breakIt(t, read);
        Request wanted = probe.request(t.name(), t.longer(8));
        t.never(
                probe.convert(read, wanted) instanceof Attempt.Granted,
                "the grant of a reader was broken, and its upgrade granted: the break has ended nothing");
        probe.withdraw(wanted);
        probe.release(read);
    }

    @Check(
            rules = "LK-1105 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE, Feature.BREAK})
    @Hint("Does a conversion count a reader whose grant was broken, and who has not answered yet?")
    void anUpgradeWaitsForABrokenReader(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        BackendProbe other = t.probe("other");
        Grant broken = reads(t, other);
        long sent = t.now();
        Grant read = reads(t, probe);
        breakIt(t, broken);
        Request wanted = probe.request(t.name(), t.longer(8));
        t.neverWithin(
                sent,
                broken.ttl(),
                probe.convert(read, wanted) instanceof Attempt.Granted,
                "a reader became the writer beside another one whose grant was broken and who had not answered yet: "
                        + "that one may still believe");
        other.release(broken);
        probe.withdraw(wanted);
        probe.release(read);
    }

    @Check(
            rules = "LK-1501 LK-502 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("What does a conversion find that was carried out before, and whose answer was lost?")
    void aRepeatedConversionBringsTheSameGrantAnew(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        LockClient rival = t.client("rival");
        Grant read = reads(t, probe);
        Request wanted = probe.request(t.name(), t.ttl());
        Grant first = converted(t, probe, read, wanted);
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Grant again = converted(t, probe, read, wanted);
        t.expectEqual("the token of a repeated conversion", first.token(), again.token());
        isKeptSince(
                t, sent, rival, "a conversion was repeated another client has the lock: the ttl did not begin anew");
        probe.release(again);
    }

    private static Grant converted(CheckContext t, BackendProbe probe, Grant held, Request wanted) throws Exception {
        Attempt result = probe.convert(held, wanted);
        if (result instanceof Attempt.Granted granted) {
            return granted.grant();
        }
        throw t.failure("a conversion that nobody is in the way of came to " + result);
    }

    @Check(
            rules = "LK-701 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Is a grant that was converted still found by the id and token that it had before?")
    void whatWasConvertedIsNotFoundByItsOldToken(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        LockClient rival = t.client("rival");
        Grant read = reads(t, probe);
        long sent = t.now();
        Grant write = converted(t, probe, read, probe.request(t.name(), t.longer(8)));
        t.never(
                probe.renew(read).contains(Answer.DONE),
                "a reader had become the writer, and a renewal by what it had been was answered DONE");
        t.never(
                probe.release(read) == Answer.DONE,
                "a reader had become the writer, and a release by what it had been was answered DONE");
        if (t.has(Feature.BREAK)) {
            t.never(
                    probe.breakGrant(read, "late"),
                    "a reader had become the writer, and a break by the token that it had before was said to be done");
        }
        t.neverWithin(
                sent,
                write.ttl(),
                rival.lock(t.name()).tryAcquire().isPresent(),
                "a reader had become the writer, and a message by the token that it had before has ended its grant");
        t.expectEqual("the answer to the release by its own token", Answer.DONE, probe.release(write));
    }

    @Check(
            rules = "LK-1502 LK-1402",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Does the withdrawal of a downgrade end the grant that it has become?")
    void theWithdrawalOfADowngradeEndsTheGrant(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("writer");
        Grant write = probe.take(t.name(), t.longer(8));
        Request wanted = probe.request(t.name(), LockMode.SHARED, t.longer(8));
        converted(t, probe, write, wanted);
        probe.withdraw(wanted);
        t.expectFreeSoon(
                t.client("rival"),
                t.name(),
                "a downgrade that had been granted was withdrawn, and the lock is still taken");
    }
}
