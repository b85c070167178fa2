// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.keyway.lock.peer.NodeId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The arrows of the house point downward: command line, providers and compatibility kit, API. This module sees them
 * all.
 */
class HouseTest {
    private static final String API = "io.keyway.lock";
    private static final String GROUP = "io.keyway.lock.group";
    private static final String SPI = "io.keyway.lock.spi";
    private static final String KIT = "io.keyway.lock.kit";
    private static final String TABLE = "io.keyway.lock.kit.table";
    private static final String AGENT = "io.keyway.lock.kit.agent";
    private static final String CLI = "io.keyway.lock.cli..";
    private static final String SIMULATOR = "io.keyway.lock.simulator..";
    private static final String TCK = "io.keyway.lock.tck..";

    /** One package for each provider; a new provider is added here. */
    private static final List<String> PROVIDERS =
            List.of("io.keyway.lock.jdbc", "io.keyway.lock.peer", "io.keyway.lock.redis", "io.keyway.lock.zookeeper");

    static final JavaClasses HOUSE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("test-classes") && !location.contains("-tests.jar"))
            .withImportOption(location -> !location.contains("lock-testing")) // never published
            .importPackages("io.keyway");

    @Test
    void everyRoomIsSeen() {
        assertThat(HOUSE.stream().map(room -> room.getPackageName()).distinct())
                .contains(
                        API,
                        GROUP,
                        SPI,
                        KIT,
                        TABLE,
                        AGENT,
                        "io.keyway.lock.cli",
                        "io.keyway.lock.cli.supervisor",
                        "io.keyway.lock.jdbc",
                        "io.keyway.lock.peer",
                        "io.keyway.lock.redis",
                        "io.keyway.lock.simulator",
                        "io.keyway.lock.simulator.picture",
                        "io.keyway.lock.tck.command",
                        "io.keyway.lock.tck.proxy",
                        "io.keyway.lock.zookeeper");
        assertThat(HOUSE.stream()
                        .map(room -> room.getPackageName())
                        .filter(room ->
                                !List.of(API, GROUP, SPI, KIT, TABLE, AGENT).contains(room))
                        .filter(room -> !room.startsWith("io.keyway.lock.cli"))
                        .filter(room -> !room.startsWith("io.keyway.lock.simulator"))
                        .filter(room -> !room.startsWith("io.keyway.lock.tck"))
                        .filter(room -> PROVIDERS.stream().noneMatch(room::startsWith)))
                .as("packages that no rule of this test knows")
                .isEmpty();
    }

    @Test
    void theApiKnowsNothingAboveIt() {
        noClasses()
                .that()
                .resideInAnyPackage(API, GROUP, SPI, KIT, TABLE, AGENT)
                .should()
                .dependOnClassesThat(resideInAPackage("io.keyway..")
                        .and(DescribedPredicate.not(resideInAnyPackage(API, GROUP, SPI, KIT, TABLE, AGENT))))
                .check(HOUSE);
    }

    /** It stands on what any application sees. */
    @Test
    void groupsKnowTheApiAlone() {
        noClasses()
                .that()
                .resideInAPackage(GROUP)
                .should()
                .dependOnClassesThat(
                        resideInAPackage("io.keyway..").and(DescribedPredicate.not(resideInAnyPackage(API, GROUP))))
                .check(HOUSE);
    }

    @TestFactory
    Stream<DynamicTest> aProviderKnowsTheApiAloneAndOfItOnlyWhatIsExported() {
        return PROVIDERS.stream()
                .map(provider -> DynamicTest.dynamicTest(
                        provider, () -> providerRule(provider).check(HOUSE)));
    }

    private static ArchRule providerRule(String provider) {
        return noClasses()
                .that()
                .resideInAPackage(provider + "..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.keyway..")
                        .and(DescribedPredicate.not(resideInAnyPackage(API, SPI, TABLE, provider + ".."))));
    }

    @Test
    void theCompatibilityKitKnowsNoProvider() {
        noClasses()
                .that()
                .resideInAPackage(TCK)
                .should()
                .dependOnClassesThat(resideInAPackage("io.keyway..")
                        .and(DescribedPredicate.not(resideInAnyPackage(API, SPI, TABLE, TCK))))
                .check(HOUSE);
    }

    /** It runs the machines of the native provider, and no socket, thread or file of it. */
    @Test
    void theSimulatorKnowsTheNativeProviderAlone() {
        noClasses()
                .that()
                .resideInAPackage(SIMULATOR)
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                                CLI,
                                TCK,
                                KIT,
                                "io.keyway.lock.jdbc..",
                                "io.keyway.lock.redis..",
                                "io.keyway.lock.zookeeper..")
                        .or(resideInAnyPackage(
                                        "io.keyway.lock.peer",
                                        "io.keyway.lock.peer.local..",
                                        "io.keyway.lock.peer.memory..")
                                .and(not(type(NodeId.class)))))
                .check(HOUSE);
    }

    /** Runs come from elsewhere too. */
    @Test
    void picturesKnowNobody() {
        noClasses()
                .that()
                .resideInAPackage("io.keyway.lock.simulator.picture")
                .should()
                .dependOnClassesThat(resideInAPackage("io.keyway..")
                        .and(DescribedPredicate.not(resideInAPackage("io.keyway.lock.simulator.picture"))))
                .check(HOUSE);
    }

    @Test
    void theCommandLineUsesWhatIsExported() {
        noClasses()
                .that()
                .resideInAPackage(CLI)
                .should()
                .dependOnClassesThat(resideInAPackage("io.keyway..")
                        .and(DescribedPredicate.not(resideInAnyPackage(
                                API,
                                SPI,
                                CLI,
                                "io.keyway.lock.peer",
                                "io.keyway.lock.redis",
                                "io.keyway.lock.peer.cluster",
                                "io.keyway.lock.peer.local",
                                "io.keyway.lock.peer.security",
                                "io.keyway.lock.peer.trace",
                                "io.keyway.lock.simulator",
                                "io.keyway.lock.simulator.picture",
                                "io.keyway.lock.tck.command",
                                "io.keyway.lock.tck.history",
                                "io.keyway.lock.tck.journal",
                                "io.keyway.lock.tck.process",
                                "io.keyway.lock.tck.proxy"))))
                .check(HOUSE);
    }

    @Test
    void theSupervisorStartsInAMomentSoItNeedsLittle() {
        noClasses()
                .that()
                .resideInAPackage("io.keyway.lock.cli.supervisor")
                .should()
                .dependOnClassesThat(resideInAnyPackage("io.keyway.lock.cli", "picocli..", API, "org.slf4j.."))
                .check(HOUSE);
    }

    @Test
    void aRuleSeesWhatItForbids() {
        assertThat(noClasses()
                        .that()
                        .resideInAPackage(CLI)
                        .should()
                        .dependOnClassesThat(resideInAPackage("io.keyway.lock.peer.local"))
                        .evaluate(HOUSE)
                        .hasViolation())
                .isTrue();
    }
}
