// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The rooms of this provider: the arrows between them point downward only. */
class RoomsTest {
    private static final String ROOT = "io.keyway.lock.peer";

    /** The lowest last. Whoever is on one line does not know the others there. */
    private static final List<List<String>> FLOORS = List.of(
            List.of("cluster", "local", "memory"), // where members and clients run
            List.of("member"), // what a member is wherever it runs
            List.of("engine"), // what a client is wherever its cells run
            List.of("algorithms"), // the registration of algorithms
            List.of("lease", "lamport", "bakery"),
            List.of("client", "queue", "home", "election"), // the sides of a lock, for algorithms to use
            List.of("service", "net"), // the words that all algorithms share, and what an algorithm is; sockets
            List.of("trace"), // what is written down of frames
            List.of("wire", "security"),
            List.of("session"),
            List.of("kernel", "os"));

    private static final JavaClasses PRODUCTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("test-classes"))
            .importPackages(ROOT);

    private static String room(String name) {
        return ROOT + "." + name + "..";
    }

    private static ArchRule knowsOnlyWhatIsBelow(int floor, String name) {
        List<String> forbidden = new ArrayList<>();
        for (int above = 0; above <= floor; above++) {
            FLOORS.get(above).stream()
                    .filter(each -> !each.equals(name))
                    .map(RoomsTest::room)
                    .forEach(forbidden::add);
        }
        return noClasses()
                .that()
                .resideInAPackage(room(name))
                .should()
                .dependOnClassesThat(resideInAnyPackage(forbidden.toArray(String[]::new))
                        .or(JavaClass.Predicates.type(NativeLockProvider.class)))
                .allowEmptyShould(false);
    }

    @TestFactory
    Stream<DynamicTest> aRoomKnowsOnlyWhatIsBelowIt() {
        List<DynamicTest> tests = new ArrayList<>();
        for (int i = 0; i < FLOORS.size(); i++) {
            for (String name : FLOORS.get(i)) {
                ArchRule rule = knowsOnlyWhatIsBelow(i, name);
                tests.add(DynamicTest.dynamicTest(name, () -> rule.check(PRODUCTION)));
            }
        }
        return tests.stream();
    }

    @Test
    void everyRoomIsOnAFloor() {
        List<String> known = FLOORS.stream()
                .flatMap(List::stream)
                .map(name -> ROOT + "." + name)
                .toList();
        assertThat(PRODUCTION.stream().map(JavaClass::getPackageName).distinct())
                .allSatisfy(
                        room -> assertThat(room.equals(ROOT) || known.stream().anyMatch(room::startsWith))
                                .as(room)
                                .isTrue());
    }

    /** The entrance makes all the rest; what it has for users beside that knows no room. */
    @Test
    void whatUsersSeeKnowsNoRoom() {
        noClasses()
                .that()
                .resideInAPackage(ROOT)
                .and()
                .doNotBelongToAnyOf(NativeLockProvider.class)
                .should()
                .dependOnClassesThat(resideInAPackage(ROOT + ".(*).."))
                .check(PRODUCTION);
    }

    @Test
    void onlyWhereMembersAndClientsRunTheOperatingSystemIsKnown() {
        noClasses()
                .that()
                .resideOutsideOfPackages(room("os"), room("member"), room("cluster"), room("local"), room("memory"))
                .and()
                .doNotBelongToAnyOf(NativeLockProvider.class)
                .should()
                .dependOnClassesThat(resideInAPackage(room("os")))
                .check(PRODUCTION);
    }

    @Test
    void aRuleSeesWhatItForbids() {
        assertThat(knowsOnlyWhatIsBelow(FLOORS.size() - 1, "member")
                        .evaluate(PRODUCTION)
                        .hasViolation())
                .isTrue();
    }
}
