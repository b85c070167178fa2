// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.os.FileSystemKind;
import io.keyway.lock.peer.os.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalDirectoryTest {
    private static final MemberSettings SETTINGS =
            new MemberSettings("local", "host", 0, 0, Duration.ofSeconds(60), 1, "");

    @TempDir
    Path base;

    FakeFacts facts = new FakeFacts();

    private static Path choose(Optional<String> url, Map<String, String> environment, String home) {
        return LocalDirectory.choose(url, environment, home);
    }

    private static void assertUnfit(ThrowingCallable call, String why) {
        assertThatThrownBy(call).isInstanceOf(LockUnavailableException.class).hasMessageContaining(why);
    }

    @Test
    void theUrlGoesOverTheVariableOverTheHome() {
        Map<String, String> variable = Map.of("KEYWAY_DIR", "/var/locks");
        assertThat(choose(Optional.of("/srv/locks"), variable, "/home/me")).isEqualTo(Path.of("/srv/locks"));
        assertThat(choose(Optional.empty(), variable, "/home/me")).isEqualTo(Path.of("/var/locks"));
        Path standard = choose(Optional.empty(), Map.of("KEYWAY_DIR", ""), "/home/me");
        assertThat(standard.getParent()).isEqualTo(Path.of("/home/me/.local/state/keyway"));
        assertThat(standard).isEqualTo(choose(Optional.empty(), Map.of(), "/home/me"));
    }

    @Test
    void aDirectoryMustBeAbsolute() {
        assertThatThrownBy(() -> choose(Optional.of("locks"), Map.of(), "/home/me"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("not absolute");
        assertThatThrownBy(() -> choose(Optional.of("/srv/a\nb"), Map.of(), "/home/me"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("control character");
        assertUnfit(() -> choose(Optional.empty(), Map.of("KEYWAY_DIR", "locks"), "/home/me"), "KEYWAY_DIR is 'locks'");
        assertUnfit(() -> choose(Optional.empty(), Map.of(), "?"), "no home directory");
        assertUnfit(() -> choose(Optional.empty(), Map.of(), ""), "no home directory");
    }

    @Test
    void theNamesOfAllDirectoriesThatWereMadeAreOnDisk() throws IOException {
        Path path = base.resolve("a/b/c");
        LocalDirectory.open(path, facts);
        assertThat(facts.staysNamed(path)).isTrue();
        assertThat(facts.staysNamed(path.getParent())).isTrue();
        assertThat(facts.staysNamed(path.getParent().getParent())).isTrue();
    }

    @Test
    void machinesThatShareAHomeHaveDirectoriesOfTheirOwn() throws IOException {
        Path a = Files.writeString(base.resolve("a"), "0123456789abcdef\n");
        Path b = Files.writeString(base.resolve("b"), "fedcba9876543210\n");
        Path empty = Files.writeString(base.resolve("c"), "\n");
        String id = LocalDirectory.machineId(List.of(base.resolve("none"), empty, a, b));
        assertThat(id).hasSize(16).isNotEqualTo(LocalDirectory.machineId(List.of(b)));
        assertThat(id).as("a digest, not the id itself").doesNotContain("0123456789");
        assertThat(LocalDirectory.machineId(List.of())).isEqualTo("this-machine");
    }

    @Test
    void aMissingDirectoryIsMadeForItsOwnerAlone() throws IOException {
        Path path = base.resolve("a/b/locks");
        LocalDirectory directory = LocalDirectory.open(path, facts);
        assertThat(directory.path()).isEqualTo(path.toRealPath());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwx------");
        assertThat(path).as("no trace of the check").isEmptyDirectory();
        LocalDirectory.open(path, facts);
    }

    @Test
    void aSymbolicLinkIsRefused() throws IOException {
        Path target = Files.createDirectory(base.resolve("target"));
        Path link = Files.createSymbolicLink(base.resolve("link"), target);
        assertUnfit(() -> LocalDirectory.open(link, facts), "symbolic link to " + target);
        Path dangling = Files.createSymbolicLink(base.resolve("dangling"), base.resolve("none"));
        assertUnfit(() -> LocalDirectory.open(dangling, facts), "symbolic link");
    }

    @Test
    void aFileIsRefused() throws IOException {
        Path file = Files.createFile(base.resolve("file"));
        assertUnfit(() -> LocalDirectory.open(file, facts), "not a directory");
        assertUnfit(() -> LocalDirectory.open(file.resolve("below"), facts), "Cannot use the lock directory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nfs", "nfs4", "cifs", "fuse.sshfs", "9p", "smb3", "virtiofs", "NFS"})
    void aNetworkFileSystemIsRefused(String type) {
        facts.fileSystem = type;
        assertUnfit(() -> LocalDirectory.open(base.resolve("locks"), facts), "on a " + type + " file system");
    }

    @Test
    void anUnknownFileSystemIsRefused() {
        facts.fileSystem = "";
        assertUnfit(() -> LocalDirectory.open(base.resolve("locks"), facts), "does not say which");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuse.gocryptfs", "f2fs"})
    void aLocalFileSystemIsAccepted(String type) {
        facts.fileSystem = type;
        assertThat(LocalDirectory.open(base.resolve("locks"), facts).path()).exists();
    }

    @Test
    void aFileSystemOfNoListIsUsedWithAWarning() {
        assertThat(FileSystemKind.of("ext4")).isEqualTo(FileSystemKind.LOCAL);
        assertThat(FileSystemKind.of("NFS")).isEqualTo(FileSystemKind.NETWORK);
        assertThat(FileSystemKind.of("fuse.sshfs")).isEqualTo(FileSystemKind.NETWORK);
        for (String type : List.of("fuse", "fuse.somebodys", "brandnewfs")) {
            assertThat(FileSystemKind.of(type)).as(type).isEqualTo(FileSystemKind.UNKNOWN);
        }
    }

    @Test
    void aDirectoryThatOthersMayWriteToIsTightenedWhileItIsEmptyAndRefusedAfterwards() throws IOException {
        Path path = Files.createDirectory(base.resolve("locks"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        LocalDirectory.open(path, facts);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwx------");
        Files.createFile(path.resolve("something"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwx---"));
        assertUnfit(() -> LocalDirectory.open(path, facts), "chmod 700");
    }

    @Test
    void anotherUsersDirectoryIsRefused() throws Exception {
        assumeTrue(isRoot(), "only root can give a directory away");
        Path path = Files.createDirectory(base.resolve("locks"));
        Files.setOwner(
                path, path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("65534"));
        assertUnfit(() -> LocalDirectory.open(path, facts), "belongs to user");
    }

    @Test
    void anUnwritableDirectoryIsRefused() throws Exception {
        assumeFalse(isRoot(), "root may write anywhere");
        Path path = Files.createDirectory(base.resolve("locks"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r-x------"));
        assertUnfit(() -> LocalDirectory.open(path, facts), "may not write to it; choose another one");
    }

    @Test
    void aReadOnlyFileSystemIsRefused() {
        Path proc = Path.of("/proc/sys");
        assumeTrue(Files.isDirectory(proc), "needs /proc");
        assertUnfit(() -> LocalDirectory.open(proc, facts), "Cannot use the lock directory /proc/sys");
    }

    @Test
    void aPlaceWhereNothingCanBeMadeIsRefusedInPlainWords() {
        assumeTrue(Files.isDirectory(Path.of("/proc/sys")), "needs /proc");
        assertUnfit(
                () -> LocalDirectory.open(Path.of("/proc/keyway"), facts),
                "Cannot use the lock directory /proc/keyway: /proc/keyway cannot be made there");
    }

    @Test
    void aFullDirectoryIsRefusedAtFirstAndServesOnOnceItIsInUse() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(base.resolve("disk"))) {
            Path path = disk.path().resolve("locks");
            LocalDirectory directory = LocalDirectory.open(path, facts);
            ByteLocks clients = directory.clients(facts, SETTINGS);
            try (MemberFile member = MemberFile.open(directory.memberFile(), facts, SETTINGS)) {
                member.force(new MemberRecord(5, 0, 0));
                disk.fill();
                for (int i = 0; i < 5; i++) {
                    member.force(new MemberRecord(5, 0, i));
                }
                assertThat(member.forceClean(new MemberRecord(5, 0, 0), List.of(new byte[1000])))
                        .isTrue();
            }
            assertThat(LocalDirectory.open(path, facts).clients(facts, SETTINGS).fileKey())
                    .isEqualTo(clients.fileKey());
            assertUnfit(
                    () -> {
                        Path fresh = disk.path().resolve("fresh");
                        LocalDirectory.open(fresh, facts).clients(facts, SETTINGS);
                    },
                    "No space left");
        }
    }

    @Test
    void firstUseIsAWordInTheMemberFile() throws IOException {
        LocalDirectory directory = LocalDirectory.open(base.resolve("locks"), facts);
        directory.clients(facts, SETTINGS);
        assertThat(start(directory)).isInstanceOf(StartState.FirstUse.class);
        assertThat(directory.election().tryHost())
                .as("host.lock is free again")
                .isInstanceOfSatisfying(HostElection.Hosting.class, HostElection.Hosting::close);
    }

    @Test
    void firstUseIsStillFirstUseForAnotherVersionsSettings() throws IOException {
        LocalDirectory directory = LocalDirectory.open(base.resolve("locks"), facts);
        directory.clients(facts, new MemberSettings("local", "host", 4, 5, Duration.ofSeconds(10), 1, ""));
        assertThat(start(directory)).isInstanceOf(StartState.FirstUse.class);
    }

    @Test
    void aMemberFileMissingBesideClientsLockIsNoFirstUse() throws IOException {
        LocalDirectory directory = LocalDirectory.open(base.resolve("locks"), facts);
        directory.clients(facts, SETTINGS);
        Files.delete(directory.memberFile());
        directory.clients(facts, SETTINGS);
        assertThat(start(directory)).isInstanceOf(StartState.Missing.class);
    }

    @Test
    void clientsLockMissingBesideAMemberFileWaitsInFull() throws IOException {
        LocalDirectory directory = LocalDirectory.open(base.resolve("locks"), facts);
        ByteLocks first = directory.clients(facts, SETTINGS);
        try (MemberFile member = MemberFile.open(directory.memberFile(), facts, with(first))) {
            member.force(new MemberRecord(5, 0, BootClock.horizon(facts, 0)));
        }
        Files.delete(directory.path().resolve("clients.lock"));
        ByteLocks second = directory.clients(facts, SETTINGS);
        try (MemberFile member = MemberFile.open(directory.memberFile(), facts, with(second))) {
            assertThat(member.start()).isInstanceOf(StartState.Restarted.class);
            assertThat(member.quarantine().reason()).contains("clients.lock was removed or replaced");
            assertThat(member.quarantine().duration()).isEqualTo(Quarantine.full(SETTINGS.maxTtl()));
        }
    }

    @Test
    void clientsLockRemovedUnderALiveHostIsAnError() throws IOException {
        LocalDirectory directory = LocalDirectory.open(base.resolve("locks"), facts);
        directory.clients(facts, SETTINGS);
        try (HostElection.Hosting hosting =
                (HostElection.Hosting) directory.election().tryHost()) {
            hosting.publish(HostInfo.onPort(4711, HostInfo.newSecret()));
            Files.delete(directory.path().resolve("clients.lock"));
            assertUnfit(
                    () -> directory.clients(facts, SETTINGS),
                    "process " + ProcessHandle.current().pid() + " at 127.0.0.1:4711 hosts");
        }
    }

    @Test
    void manyFirstUsersAtOnceAgreeThatItIsFirstUse() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 20; round++) {
                Path path = base.resolve("locks" + round);
                Callable<String> open = () -> LocalDirectory.open(path, facts)
                        .clients(facts, SETTINGS)
                        .fileKey();
                List<String> keys = pool.invokeAll(List.of(open, open, open, open, open, open, open, open)).stream()
                        .map(f -> {
                            try {
                                return f.get();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        })
                        .distinct()
                        .toList();
                assertThat(keys).hasSize(1);
                assertThat(start(LocalDirectory.open(path, facts))).isInstanceOf(StartState.FirstUse.class);
            }
        } finally {
            pool.shutdown();
            assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static MemberSettings with(ByteLocks clients) {
        return new MemberSettings("local", "host", 0, 0, Duration.ofSeconds(60), 1, clients.fileKey());
    }

    private StartState start(LocalDirectory directory) throws IOException {
        try (MemberFile member = MemberFile.open(directory.memberFile(), facts, SETTINGS)) {
            return member.start();
        }
    }

    private boolean isRoot() throws IOException {
        return Integer.valueOf(0).equals(Files.getAttribute(base, "unix:uid"));
    }
}
