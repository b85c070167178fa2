// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.Trial;
import io.keyway.lock.tck.check.Verbs;

/** Rules 502, 1105 and 1204: conversions, asked of the verb of a {@code LockBackend}. */
final class ConversionChecks {

    private static Grant reads(Trial t, Verbs verbs) throws Exception {
        return verbs.granted(verbs.request(t.name(), LockMode.SHARED, t.longer(8)), "a reader was not granted");
    }

    private static void breakIt(Trial t, Grant grant) throws Exception {
        t.expect(
                t.client("operator").admin().breakLease(grant.key(), grant.token(), "to see what its upgrade comes to"),
                "a grant in force was not broken");
    }

    @Check(
            rules = {"LK-502", "LK-1204"},
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            first =
                    "From when does the term of a converted grant run: from its conversion, or from the grant that it was?")
    void aConvertedGrantHasAWholeTerm(Trial t) throws Exception {
        Verbs verbs = t.verbs("reader");
        LockClient rival = t.client("rival");
        Grant read = verbs.granted(verbs.request(t.name(), LockMode.SHARED, t.ttl()), "a reader was not granted");
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Attempt upgraded = verbs.convert(read, verbs.request(t.name(), t.ttl()));
        if (!(upgraded instanceof Attempt.Granted granted)) {
            throw t.failure("the upgrade of the only reader came to " + upgraded);
        }
        t.pass(t.ttl(3, 4));
        t.neverBefore(
                sent + t.ttl().toNanos() / 100 * 98,
                rival.lock(t.name()).tryAcquire().isPresent(),
                "3/4 of a ttl after an upgrade another client has the lock: its term was that of the read grant");
        verbs.release(granted.grant());
    }

    @Check(
            rules = {"LK-1205", "LK-502"},
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            first =
                    "For how long is the read grant kept that an upgrade becomes again when it is withdrawn: for the rest of the upgrade's term, or of its own?")
    void theReadGrantOfAWithdrawnUpgradeHasTheTermOfTheUpgrade(Trial t) throws Exception {
        Verbs verbs = t.verbs("reader");
        LockClient rival = t.client("rival");
        Grant read = verbs.granted(verbs.request(t.name(), LockMode.SHARED, t.ttl()), "a reader was not granted");
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Request wanted = verbs.request(t.name(), t.ttl());
        Attempt upgraded = verbs.convert(read, wanted);
        t.expect(upgraded instanceof Attempt.Granted, "the upgrade of the only reader came to " + upgraded);
        verbs.withdraw(wanted);
        t.pass(t.ttl(3, 4));
        t.neverBefore(
                sent + t.ttl().toNanos() / 100 * 98,
                rival.lock(t.name()).tryAcquire().isPresent(),
                "3/4 of a ttl after an upgrade that was withdrawn a writer has the lock: the read grant was given its old term, which its client had extended by the upgrade");
        verbs.release(read);
    }

    @Check(
            rules = {"LK-1105", "LK-1204"},
            needs = {Feature.READ_WRITE, Feature.UPGRADE, Feature.BREAK},
            first = "Does a conversion look whether the grant that it converts was broken?")
    void aBrokenReaderIsNotUpgraded(Trial t) throws Exception {
        Verbs verbs = t.verbs("reader");
        Grant read = reads(t, verbs);
        breakIt(t, read);
        Request wanted = verbs.request(t.name(), t.longer(8));
        t.never(
                verbs.convert(read, wanted) instanceof Attempt.Granted,
                "the grant of a reader was broken, and its upgrade granted: the break has ended nothing");
        verbs.withdraw(wanted);
        verbs.release(read);
    }

    @Check(
            rules = {"LK-1105", "LK-1204"},
            needs = {Feature.READ_WRITE, Feature.UPGRADE, Feature.BREAK},
            first = "Does a conversion count a reader whose grant was broken, and who has not answered yet?")
    void anUpgradeWaitsForABrokenReader(Trial t) throws Exception {
        Verbs verbs = t.verbs("reader");
        Verbs other = t.verbs("other");
        Grant broken = reads(t, other);
        long sent = t.now();
        Grant read = reads(t, verbs);
        breakIt(t, broken);
        Request wanted = verbs.request(t.name(), t.longer(8));
        t.neverBefore(
                sent + broken.ttl().toNanos() / 100 * 98,
                verbs.convert(read, wanted) instanceof Attempt.Granted,
                "a reader became the writer beside another one whose grant was broken and who had not answered yet: that one may still believe");
        other.release(broken);
        verbs.withdraw(wanted);
        verbs.release(read);
    }
}
