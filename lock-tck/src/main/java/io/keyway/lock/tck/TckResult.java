// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.ProviderInfo;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What a run found.
 *
 * @param provider the name that it gives itself; empty text if it could not be opened
 * @param providerVersion the version that it gives itself
 * @param apiLevel the API level that it was built for; 0 if it could not be opened
 * @param tckVersion of this TCK
 * @param url masked
 * @param profile what was run
 * @param seed from which every random choice came; the same seed repeats them
 * @param timeFactor by which ttls and patience were stretched
 * @param virtualTime whether the subject's clock was moved by the TCK
 * @param reach who can share its locks
 * @param features what it declares
 * @param guarantees what it promises; empty if it could not be opened
 * @param took real time
 * @param trouble why there is no or only half a result: the URL cannot be opened, the run was cancelled; empty mostly
 * @param checks one for each check of the TCK, in the order of the rules
 */
public record TckResult(
        String provider,
        String providerVersion,
        int apiLevel,
        String tckVersion,
        String url,
        Profile profile,
        long seed,
        double timeFactor,
        boolean virtualTime,
        Scope reach,
        Set<Feature> features,
        Optional<Guarantees> guarantees,
        Duration took,
        Optional<Trouble> trouble,
        List<CheckResult> checks) {

    /** Why there is no whole result. */
    public record Trouble(Kind kind, String message) {
        /** What went wrong. */
        public enum Kind {
            /** The URL cannot be opened, or its provider misbehaves before any check. */
            CANNOT_OPEN,
            /** Somebody ended the run. */
            CANCELLED
        }

        public Trouble {
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(message, "message");
        }
    }

    /** The one word of a run. */
    public enum Outcome {
        /** Every check that applies and could be tried has passed. */
        COMPATIBLE(0),
        /** At least one check has failed. */
        NOT_COMPATIBLE(1),
        /** The URL could not be opened. */
        CANNOT_OPEN(3),
        /** Nothing failed, but there are exclusions or inconclusive checks. */
        INCOMPLETE(4),
        /** The run was cancelled. */
        CANCELLED(130);

        private final int exitCode;

        Outcome(int exitCode) {
            this.exitCode = exitCode;
        }

        /** The exit code of the command line; 2 is a usage error. */
        public int exitCode() {
            return exitCode;
        }
    }

    public TckResult {
        Objects.requireNonNull(provider, "provider");
        Objects.requireNonNull(providerVersion, "providerVersion");
        Objects.requireNonNull(tckVersion, "tckVersion");
        Objects.requireNonNull(url, "url");
        Objects.requireNonNull(profile, "profile");
        Objects.requireNonNull(reach, "reach");
        features = Set.copyOf(features);
        Objects.requireNonNull(guarantees, "guarantees");
        Objects.requireNonNull(took, "took");
        Objects.requireNonNull(trouble, "trouble");
        checks = List.copyOf(checks);
    }

    /** What is known of a subject that could not be opened: how it was tried. */
    public static TckResult unopened(String url, TckConfig config) {
        String version = TckResult.class.getPackage().getImplementationVersion();
        return new TckResult(
                "",
                "",
                0,
                version == null ? "development" : version,
                url,
                config.profile(),
                config.seed(),
                config.timeFactor(),
                false,
                Scope.NETWORK,
                Set.of(),
                Optional.empty(),
                Duration.ZERO,
                Optional.empty(),
                List.of());
    }

    /** The same, with who it would have been: a provider that says that it takes the URL. */
    public TckResult by(ProviderInfo found) {
        return new TckResult(
                found.name(),
                found.version(),
                found.apiLevel(),
                tckVersion,
                url,
                profile,
                seed,
                timeFactor,
                virtualTime,
                reach,
                features,
                guarantees,
                took,
                trouble,
                checks);
    }

    /** The same subject, with what came of the run. */
    public TckResult ended(Duration after, Optional<Trouble> why, List<CheckResult> found) {
        return new TckResult(
                provider,
                providerVersion,
                apiLevel,
                tckVersion,
                url,
                profile,
                seed,
                timeFactor,
                virtualTime,
                reach,
                features,
                guarantees,
                after,
                why,
                found);
    }

    /** How many checks have that verdict. */
    public long count(Verdict verdict) {
        return checks.stream().filter(check -> check.verdict() == verdict).count();
    }

    /** The checks with that verdict, in order. */
    public List<CheckResult> with(Verdict verdict) {
        return checks.stream().filter(check -> check.verdict() == verdict).toList();
    }

    /** The one word. */
    public Outcome outcome() {
        if (trouble.isPresent()) {
            return trouble.get().kind() == Trouble.Kind.CANCELLED ? Outcome.CANCELLED : Outcome.CANNOT_OPEN;
        }
        if (count(Verdict.FAIL) > 0) {
            return Outcome.NOT_COMPATIBLE;
        }
        boolean whole = count(Verdict.EXCLUDED) == 0 && count(Verdict.INCONCLUSIVE) == 0 && count(Verdict.PASS) > 0;
        return whole ? Outcome.COMPATIBLE : Outcome.INCOMPLETE;
    }
}
