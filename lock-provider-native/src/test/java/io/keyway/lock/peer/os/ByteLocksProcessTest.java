// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.peer.os.ByteLocks.Life;
import io.keyway.lock.peer.os.ByteLocks.Others;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ByteLocksProcessTest {
    @TempDir
    Path directory;

    Path path;
    ByteLocks locks;

    @BeforeEach
    void open() {
        path = directory.resolve("clients.lock");
        locks = ByteLocks.open(path);
    }

    private ChildJvm holder() throws Exception {
        ChildJvm child = ChildJvm.start(ByteHolder.class, path.toString());
        child.await("ready");
        return child;
    }

    @Test
    void aKilledProcessFreesItsByteAndAStoppedOneKeepsIt() throws Exception {
        long mine = locks.take();
        try (ChildJvm child = holder()) {
            long theirs = Long.parseLong(child.ask("take", "took"));
            assertThat(locks.probe(theirs)).isEqualTo(Life.ALIVE);
            assertThat(locks.others(Set.of())).isEqualTo(Others.SOME);
            assertThat(locks.others(Set.of(theirs))).isEqualTo(Others.NONE);
            assertThat(child.ask("probe " + mine, "life")).isEqualTo("ALIVE");
            assertThat(child.ask("others", "others")).isEqualTo("SOME");

            child.stop();
            assertThat(locks.probe(theirs)).as("stopped is alive").isEqualTo(Life.ALIVE);
            assertThat(locks.others(Set.of())).isEqualTo(Others.SOME);
            child.cont();
            assertThat(child.ask("standing " + theirs, "standing")).isEqualTo("HELD");

            child.kill9();
            assertThat(locks.probe(theirs)).isEqualTo(Life.DEAD);
            assertThat(locks.others(Set.of())).isEqualTo(Others.NONE);
            assertThat(locks.stillHeld(mine)).isTrue();
        }
    }

    @Test
    void aChildOfTheHolderInheritsNeitherLockNorDescriptor() throws Exception {
        try (ChildJvm child = holder()) {
            long theirs = Long.parseLong(child.ask("take", "took"));
            long grandchild = Long.parseLong(child.ask("spawn", "spawned"));
            try {
                child.kill9();
                assertThat(ProcessHandle.of(grandchild))
                        .hasValueSatisfying(p -> assertThat(p.isAlive()).isTrue());
                assertThat(locks.probe(theirs)).isEqualTo(Life.DEAD);
            } finally {
                Signals.send("KILL", grandchild);
            }
        }
    }

    @Test
    void aLockThatVanishedInALivingProcessIsKnownThereOnly() throws Exception {
        assumeTrue(locks.checkable(), "needs /proc");
        try (ChildJvm child = holder()) {
            long theirs = Long.parseLong(child.ask("take", "took"));
            child.ask("close-another-channel", "closed");
            assertThat(locks.probe(theirs))
                    .as("why the holder must check before it believes")
                    .isEqualTo(Life.DEAD);
            assertThat(child.ask("standing " + theirs, "standing")).isEqualTo("VANISHED");
        }
    }

    @Test
    void twoClassLoadersShareTheChannel() throws Exception {
        long mine = locks.take();
        URL[] classes = {
            ByteLocks.class.getProtectionDomain().getCodeSource().getLocation(),
            io.keyway.lock.LockName.class.getProtectionDomain().getCodeSource().getLocation()
        };
        try (URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
                ChildJvm child = holder()) {
            Class<?> type = loader.loadClass(ByteLocks.class.getName());
            assertThat(type).isNotSameAs(ByteLocks.class);
            Object other = type.getMethod("open", Path.class).invoke(null, path);
            long theirs = (Long) type.getMethod("take").invoke(other);

            assertThat(locks.own()).containsExactlyInAnyOrder(mine, theirs);
            assertThat(locks.probe(theirs)).isEqualTo(Life.THIS_JVM);
            assertThat(locks.others(Set.of())).isEqualTo(Others.NONE);
            assertThat(type.getMethod("stillHeld", long.class).invoke(other, mine))
                    .isEqualTo(true);
            type.getMethod("release", long.class).invoke(other, theirs);
            assertThat(locks.stillHeld(mine)).isTrue();
            assertThat(child.ask("probe " + mine, "life")).isEqualTo("ALIVE");
            assertThat(child.ask("probe " + theirs, "life")).isEqualTo("DEAD");
        }
    }

    @Test
    void aByteIsTakenWhileAnotherProcessExaminesAllOfThem() throws Exception {
        try (ChildJvm child = holder()) {
            long theirs = Long.parseLong(child.ask("take", "took"));
            for (int i = 0; i < 50; i++) {
                child.tell("others");
                long mine = locks.take();
                assertThat(locks.stillHeld(mine)).isTrue();
                assertThat(child.await("others")).isIn("NONE", "SOME");
                locks.release(mine);
            }
            assertThat(child.ask("standing " + theirs, "standing")).isEqualTo("HELD");
        }
    }
}
