// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.Feature;
import io.keyway.lock.Scope;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.WallClock;
import java.util.Optional;

/** Whether a check can be made of a subject, and why not. */
final class Applicability {
    /** Why a check is not made. */
    record Reason(Verdict verdict, String text) {}

    private Applicability() {}

    static Optional<Reason> against(CheckSpec spec, RunContext run) {
        String excluded = run.config().excluded().entrySet().stream()
                .filter(entry -> spec.named(entry.getKey()))
                .map(entry -> entry.getKey() + ": " + entry.getValue())
                .findFirst()
                .orElse("");
        if (!excluded.isEmpty()) {
            return Optional.of(new Reason(Verdict.EXCLUDED, excluded));
        }
        for (Feature feature : spec.check().needs()) {
            if (!run.features().contains(feature)) {
                return notApplicable("the provider does not declare " + feature.label());
            }
        }
        for (Feature feature : spec.check().lacks()) {
            if (run.features().contains(feature)) {
                return notApplicable("the provider declares " + feature.label());
            }
        }
        for (Requirement requirement : spec.check().requires()) {
            Optional<Reason> reason = against(requirement, run);
            if (reason.isPresent()) {
                return reason;
            }
        }
        return Optional.empty();
    }

    private static Optional<Reason> against(Requirement requirement, RunContext run) {
        boolean virtual = run.clock().isVirtual();
        return switch (requirement) {
            case PROXY ->
                run.hasProxies()
                        ? Optional.empty()
                        : notApplicable("the URL names no server that a proxy could stand before, and the subject"
                                + " none either (TckSubject.withServers and withAddressMap)");
            case LINK -> run.overBackend() ? Optional.empty() : against(Requirement.WIRE, run);
            case WIRE -> run.subject().links().isPresent() ? Optional.empty() : against(Requirement.PROXY, run);
            case SERVER ->
                run.subject().kill().isEmpty()
                        ? notRun("the subject has no way to kill and restart its server (TckSubject.withServer, or "
                                + "--kill-command and --start-command)")
                        : Optional.empty();
            case PAUSE ->
                run.subject().pause().isEmpty()
                        ? notRun("the subject has no way to stop and continue its server (TckSubject.withPause, or "
                                + "--pause-command and --resume-command)")
                        : Optional.empty();
            case FOOTPRINT ->
                run.subject().footprint().isEmpty()
                        ? notRun("the subject has no way to count what its store keeps (TckSubject.withFootprint, or "
                                + "--count-command)")
                        : Optional.empty();
            case PROCESS ->
                virtual || run.reach() == Scope.JVM
                        ? notApplicable("the provider's locks live in one JVM")
                        : Optional.empty();
            case WALL_CLOCK ->
                against(Requirement.PROCESS, run)
                        .or(() -> WallClock.canBeMoved()
                                ? Optional.empty()
                                : notRun("this machine has no libfaketime, which gives a process another wall "
                                        + "clock (Debian: apt-get install faketime)"));
            case VIRTUAL_TIME -> virtual ? Optional.empty() : notApplicable("only for a clock that the TCK moves");
            case REAL_TIME -> virtual ? notApplicable("only for the machine's clock") : Optional.empty();
            case VIRTUAL_THREADS ->
                VirtualThreads.available() ? Optional.empty() : notRun("this JDK has no virtual threads");
        };
    }

    private static Optional<Reason> notApplicable(String text) {
        return Optional.of(new Reason(Verdict.NOT_APPLICABLE, text));
    }

    private static Optional<Reason> notRun(String text) {
        return Optional.of(new Reason(Verdict.NOT_RUN, text));
    }
}
