// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.keyway.lock.spi.OpenRequest;
import org.junit.jupiter.api.Test;

/** The rules of the house, as far as this module can break them. */
class ApiTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.keyway.lock");

    @Test
    void apiDependsOnTheJdkAlone() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("io.keyway.lock..", "java..", "javax.crypto..", "javax.net..", "org.jspecify..")
                .check(MAIN);
    }

    @Test
    void kitIsReachedByItsTwoDoorsOnly() {
        noClasses()
                .that()
                .resideInAnyPackage("io.keyway.lock", "io.keyway.lock.spi")
                .and()
                .doNotBelongToAnyOf(OpenRequest.class, Locks.class)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.keyway.lock.kit..")
                .check(MAIN);
    }

    @Test
    void kitDoesNotKnowItsDoors() {
        noClasses()
                .that()
                .resideInAPackage("io.keyway.lock.kit..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(OpenRequest.class, Locks.class)
                .check(MAIN);
    }

    @Test
    void spiIsTheOnlyPackageThatTheApiKnowsBesideTheKit() {
        noClasses()
                .that()
                .resideInAPackage("io.keyway.lock.spi")
                .should()
                .dependOnClassesThat()
                .haveSimpleName("Locks")
                .check(MAIN);
    }

    @Test
    void namesSayWhatAClassIs() {
        noClasses()
                .should()
                .haveSimpleNameEndingWith("Impl")
                .orShould()
                .haveSimpleNameEndingWith("Util")
                .orShould()
                .haveSimpleNameEndingWith("Utils")
                .orShould()
                .haveSimpleNameContaining("Helper2")
                .check(MAIN);
    }

    @Test
    void publicTypesOfTheApiAreInterfacesOrCannotBeExtended() {
        classes()
                .that()
                .resideInAnyPackage("io.keyway.lock", "io.keyway.lock.spi")
                .and()
                .arePublic()
                .and()
                .areNotInterfaces()
                .and(DescribedPredicate.not(DescribedPredicate.<JavaClass>describe(
                        "are LockException or sealed",
                        type -> type.isEquivalentTo(LockException.class)
                                || type.reflect().isSealed())))
                .should(beFinal())
                .check(MAIN);
    }

    @Test
    void exceptionsAreOfTheFamily() {
        classes()
                .that()
                .areAssignableTo(RuntimeException.class)
                .and()
                .arePublic()
                .should()
                .beAssignableTo(LockException.class)
                .check(MAIN);
    }

    @Test
    void nobodyWritesToTheConsole() {
        com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS.check(MAIN);
    }

    private static ArchCondition<JavaClass> beFinal() {
        return new ArchCondition<>("be final") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                boolean closed = type.getModifiers().contains(JavaModifier.FINAL) || type.isEnum();
                events.add(new SimpleConditionEvent(
                        type, closed, type.getName() + (closed ? " is" : " is not") + " final"));
            }
        };
    }
}
