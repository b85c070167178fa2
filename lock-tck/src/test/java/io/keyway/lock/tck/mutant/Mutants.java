// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import java.util.List;
import java.util.stream.Stream;

/** All mutants. */
final class Mutants {

    static final List<Mutant> ALL = Stream.of(
                    GrantMutants.ALL,
                    TokenMutants.ALL,
                    FloorMutants.ALL,
                    TermMutants.ALL,
                    HoldAtLeastMutants.ALL,
                    DrainMutants.ALL,
                    QueueMutants.ALL,
                    OrderMutants.ALL,
                    ReleaseMutants.ALL,
                    ModeMutants.ALL,
                    PermitMutants.ALL,
                    PermitOrderMutants.ALL,
                    StoreMutants.ALL,
                    LeaseMutants.ALL,
                    CallMutants.ALL,
                    CloseMutants.ALL,
                    ListingMutants.ALL,
                    RenewalMutants.ALL,
                    AnswerMutants.ALL,
                    FormMutants.ALL,
                    BreakMutants.ALL,
                    VerbMutants.ALL,
                    EnduranceMutants.ALL,
                    ConversionMutants.ALL,
                    AuthorMutants.ALL,
                    LinkMutants.ALL)
            .flatMap(List::stream)
            .toList();

    private Mutants() {}
}
