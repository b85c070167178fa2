// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import java.util.List;

/** The classes that have checks. */
public final class AllChecks {
    private AllChecks() {}

    /** One object of each; they have no state. */
    public static List<Object> all() {
        return List.of(
                new NameChecks(),
                new OpeningChecks(),
                new ExclusionChecks(),
                new AcquireChecks(),
                new WaitChecks(),
                new QueueChecks(),
                new WakeUpChecks(),
                new GivingUpChecks(),
                new RaceChecks(),
                new ExpiryChecks(),
                new ReactionChecks(),
                new RenewalChecks(),
                new RowChecks(),
                new ReleaseChecks(),
                new LossChecks(),
                new SilenceChecks(),
                new UnknownOutcomeChecks(),
                new LateMessageChecks(),
                new TokenChecks(),
                new FloorChecks(),
                new EventChecks(),
                new CloseChecks(),
                new AdminChecks(),
                new ListingChecks(),
                new ShownChecks(),
                new BrokenGrantChecks(),
                new ConversionChecks(),
                new FormChecks(),
                new ModeChecks(),
                new UpgradeChecks(),
                new PermitChecks(),
                new PermitOrderChecks(),
                new TransactionChecks(),
                new WishChecks(),
                new TransactionWaitChecks(),
                new TreeChecks(),
                new NodeSetChecks(),
                new FeatureChecks(),
                new ProcessChecks(),
                new LinkChecks(),
                new ServerChecks(),
                new LeakChecks(),
                new VerbChecks(),
                new TermChecks(),
                new HoldAtLeastChecks(),
                new DrainChecks(),
                new OtherGrantChecks(),
                new UnansweredVerbChecks(),
                new LostAnswerChecks(),
                new LongWaitChecks(),
                new EngineChecks(),
                new EnduranceChecks(),
                new RandomChecks(),
                new AdapterChecks(),
                new SeveralChecks(),
                new SetLossChecks(),
                new ElectionChecks(),
                new ElectionAdminChecks(),
                new WatchChecks());
    }
}
