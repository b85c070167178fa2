// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.MethodCallTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/**
 * The same classes run under sockets, in the simulator and in searches, so a state machine touches nothing but its
 * arguments. Each rule is tried on a class that breaks it.
 */
class KernelRuleTest {
    private static final String ROOT = "io.keyway.lock.peer.";
    private static final String[] MACHINES = {
        ROOT + "kernel..",
        ROOT + "session..",
        ROOT + "service..",
        ROOT + "client..",
        ROOT + "queue..",
        ROOT + "home..",
        ROOT + "election..",
        ROOT + "lease..",
        ROOT + "lamport..",
        ROOT + "bakery.."
    };
    private static final JavaClasses PRODUCTION = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.keyway.lock.peer");

    /** What is delivered, however the tests were compiled. */
    private static final JavaClasses OURS = PRODUCTION.that(describe(
            "is delivered",
            owner -> owner.getSource()
                    .map(source -> !source.getUri().toString().contains("test-classes"))
                    .orElse(false)));

    private static final DescribedPredicate<JavaClass> WORLD = resideInAnyPackage(
                    "java.net..",
                    "java.nio.file..",
                    "java.nio.channels..",
                    "java.lang.ref..",
                    "java.util.stream..",
                    "javax.net..",
                    "org.slf4j..",
                    "java.util.logging..",
                    "io.netty..",
                    "java.time..")
            .or(named(
                    "a thread, a timer, a random number, a file or a logger",
                    "java.lang.Thread",
                    "java.lang.ThreadLocal",
                    "java.lang.Runtime",
                    "java.lang.ProcessHandle",
                    "java.lang.System$Logger",
                    "java.util.Timer",
                    "java.util.Random",
                    "java.util.SplittableRandom",
                    "java.util.UUID",
                    "java.security.SecureRandom",
                    "java.io.File",
                    "java.io.FileInputStream",
                    "java.io.FileOutputStream",
                    "java.io.RandomAccessFile"));

    private static final DescribedPredicate<JavaClass> ATOMICS = resideInAPackage("java.util.concurrent.atomic");
    private static final DescribedPredicate<JavaClass> CONCURRENT = resideInAPackage("java.util.concurrent..");

    private static final DescribedPredicate<JavaMethodCall> CLOCK = describe(
            "asks the system",
            call -> call.getTargetOwner().isEquivalentTo(System.class)
                    && !Set.of("arraycopy", "identityHashCode").contains(call.getName()));

    private static final DescribedPredicate<JavaMethodCall> HASH_ORDER = describe(
            "walks in an order that depends on hashes",
            call -> walks(call.getTarget()) && unordered(call.getTargetOwner()));

    private static final DescribedPredicate<JavaConstructorCall> HASH_TABLE = describe(
            "makes a table without order",
            call -> unordered(call.getTargetOwner())
                    // A linked table is made by the constructor of its parent.
                    && !call.getOriginOwner().isAssignableTo(HashMap.class)
                    && !call.getOriginOwner().isAssignableTo(HashSet.class));

    private static boolean walks(MethodCallTarget target) {
        return Set.of("entrySet", "keySet", "values", "forEach", "iterator", "stream", "replaceAll", "toArray")
                .contains(target.getName());
    }

    private static boolean unordered(JavaClass owner) {
        return owner.isEquivalentTo(HashMap.class)
                || owner.isEquivalentTo(HashSet.class)
                || owner.isEquivalentTo(IdentityHashMap.class)
                || owner.isEquivalentTo(WeakHashMap.class);
    }

    private static DescribedPredicate<JavaClass> named(String what, String... names) {
        Set<String> all = Set.of(names);
        return describe(what, owner -> all.contains(owner.getName()));
    }

    /** The one class that user threads and a cell share. */
    private static final DescribedPredicate<JavaClass> GRANT_HANDLE =
            describe("GrantHandle", owner -> owner.getName().startsWith(ROOT + "service.GrantHandle"));

    /** What an algorithm says of itself is no machine. */
    private static final DescribedPredicate<JavaClass> PLUG =
            describe("an algorithm's plug", owner -> owner.isAssignableTo(Algorithm.class));

    private static final ArchRule NO_WORLD = noClasses()
            .that()
            .resideInAnyPackage(MACHINES)
            .and(DescribedPredicate.not(PLUG))
            .should()
            .dependOnClassesThat(WORLD);
    private static final ArchRule NO_CLOCK =
            noClasses().that().resideInAnyPackage(MACHINES).should().callMethodWhere(CLOCK);
    private static final ArchRule NO_HASH_ORDER =
            noClasses().that().resideInAnyPackage(MACHINES).should().callMethodWhere(HASH_ORDER);
    private static final ArchRule NO_HASH_TABLE =
            noClasses().that().resideInAnyPackage(MACHINES).should().callConstructorWhere(HASH_TABLE);

    private static final ArchRule NO_CONCURRENCY = noClasses()
            .that()
            .resideInAnyPackage(MACHINES)
            .and(DescribedPredicate.not(GRANT_HANDLE))
            .should()
            .dependOnClassesThat(CONCURRENT);
    private static final ArchRule ONLY_ATOMICS = noClasses()
            .that(GRANT_HANDLE)
            .should()
            .dependOnClassesThat(CONCURRENT.and(DescribedPredicate.not(ATOMICS)))
            .allowEmptyShould(true);

    @Test
    void machinesTouchNothingButTheirArguments() {
        NO_WORLD.check(PRODUCTION);
        NO_CLOCK.check(PRODUCTION);
        NO_CONCURRENCY.check(PRODUCTION);
        ONLY_ATOMICS.check(PRODUCTION);
    }

    @Test
    void machinesNeverWalkInHashOrder() {
        NO_HASH_ORDER.check(PRODUCTION);
        NO_HASH_TABLE.check(PRODUCTION);
    }

    @Test
    void nobodyButTheRegistrationNamesAnAlgorithm() {
        ArchRule rule = noClasses()
                .that()
                .resideOutsideOfPackages(ROOT + "lease..", ROOT + "algorithms..")
                .should()
                .dependOnClassesThat(resideInAPackage(ROOT + "lease.."));
        for (String other : List.of("lamport..", "bakery..")) {
            noClasses()
                    .that()
                    .resideOutsideOfPackages(ROOT + other, ROOT + "algorithms..")
                    .should()
                    .dependOnClassesThat(resideInAPackage(ROOT + other))
                    .check(OURS);
        }
        rule.check(OURS);
        assertThatThrownBy(() -> rule.check(new ClassFileImporter().importClasses(NamesAnAlgorithm.class)))
                .isInstanceOf(AssertionError.class);
    }

    /** Does what nobody but the registration may. */
    static final class NamesAnAlgorithm {
        private final LeaseAlgorithm named = new LeaseAlgorithm();

        String name() {
            return named.name();
        }
    }

    @Test
    void theWireKnowsNoTransport() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "wire..")
                .should()
                .dependOnClassesThat(
                        resideInAnyPackage("io.netty..", "java.nio.channels..", "java.net..", "org.slf4j.."))
                .check(PRODUCTION);
    }

    @Test
    void theRulesSeeWhatTheyForbid() {
        assertThat(PRODUCTION.stream().filter(owner -> owner.getPackageName().equals(ROOT + "session")))
                .hasSizeGreaterThan(20);
        JavaClasses guilty = new ClassFileImporter().importClasses(Guilty.class);
        for (ArchRule rule : new ArchRule[] {
            noClasses().should().dependOnClassesThat(WORLD),
            noClasses().should().callMethodWhere(CLOCK),
            noClasses().should().callMethodWhere(HASH_ORDER),
            noClasses().should().callConstructorWhere(HASH_TABLE),
            noClasses().should().dependOnClassesThat(CONCURRENT)
        }) {
            assertThatThrownBy(() -> rule.check(guilty)).isInstanceOf(AssertionError.class);
        }
    }

    /** Does everything that a machine must not. */
    static final class Guilty {
        private final HashMap<String, Thread> threads = new HashMap<>();

        long sum() {
            long sum = System.nanoTime() + ThreadLocalRandom.current().nextLong();
            for (Map.Entry<String, Thread> entry : threads.entrySet()) {
                sum += entry.getKey().length();
            }
            return sum;
        }
    }
}
