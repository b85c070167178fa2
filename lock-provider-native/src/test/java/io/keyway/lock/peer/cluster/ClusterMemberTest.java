// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Starts, ends and lists of members in one process, over real sockets and files. Whoever opens under a maxTtl of an
 * hour did not wait for it.
 */
class ClusterMemberTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(200);

    @TempDir
    Path directory;

    private TestMembers members;

    @BeforeEach
    void name() throws IOException {
        members = new TestMembers(directory, "a", "b", "c", "d");
    }

    @AfterEach
    void end() {
        members.close();
    }

    @Test
    void freshMembersOpenAtOnceWhenAllHaveSaidSo() throws Exception {
        ClusterMember a = members.start("a", "abc", HOUR, true);
        ClusterMember b = members.start("b", "abc", HOUR, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> a.waits().startsWith(members.id("c")));
        assertThat(a.quarantined()).isTrue();
        assertThat(b.quarantined()).isTrue();

        ClusterMember c = members.start("c", "abc", HOUR, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> !a.quarantined() && !b.quarantined() && !c.quarantined());
    }

    @Test
    void oneMemberThatIsNotFreshMakesAllWait() throws Exception {
        ClusterMember a = members.start("a", "ab", HOUR, true);
        ClusterMember b = members.start("b", "ab", HOUR, false);
        await().atMost(Patience.of(PATIENCE))
                .until(() -> a.waits().isEmpty() && b.waits().isEmpty());

        assertThat(a.quarantined()).isTrue();
        assertThat(b.quarantined()).isTrue();
    }

    @Test
    void membersWithoutFilesOpenAfterTheirQuarantine() throws Exception {
        ClusterMember a = members.start("a", "ab", SHORT, false);
        ClusterMember b = members.start("b", "ab", SHORT, false);

        await().atMost(Patience.of(PATIENCE)).until(() -> !a.quarantined() && !b.quarantined());
    }

    @Test
    void aMemberThatHasOpenedNeedsNobodyToOpenAgain() throws Exception {
        opened("ab", HOUR);
        members.end("a");
        members.end("b");

        assertThat(members.start("a", "ab", HOUR, false).quarantined()).isFalse();
    }

    @Test
    void aMemberThatHasNotOpenedIsToBeConfirmedAgain() throws Exception {
        members.start("a", "ab", HOUR, true);
        members.end("a");

        ClusterMember again = members.start("a", "ab", HOUR, false);
        await().atMost(Patience.of(PATIENCE)).until(() -> again.waits().contains("cannot connect"));
        assertThat(again.waits()).startsWith(members.id("b"));
        assertThat(again.quarantined()).isTrue();
    }

    @Test
    void aCopyOfTheDirectoryIsToBeConfirmedAgain() throws Exception {
        opened("ab", HOUR);
        members.end("a");
        members.end("b");
        Path file = members.data("a").resolve("member");
        // Beside the original: file systems give the inode of a file that is gone to the next one.
        Path copy = Files.copy(file, file.resolveSibling("copy"));
        Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);

        ClusterMember again = members.start("a", "ab", HOUR, false);
        assertThat(again.waits()).startsWith(members.id("b"));
        assertThat(again.quarantined()).isTrue();
    }

    @Test
    void aListWithoutAFormerMemberNeedsTheOperatorsWord() throws Exception {
        opened("abc", SHORT);
        members.end("a");
        assertThatThrownBy(() -> members.start("a", "abd", SHORT, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--removed " + members.id("c"));
        members.end("b");
        members.end("c");

        ClusterMember a = members.start("a", "abd", SHORT, false, "c");
        ClusterMember b = members.start("b", "abd", SHORT, false, "c");
        assertThat(a.quarantined()).isTrue();
        ClusterMember d = members.start("d", "abd", SHORT, false);
        await().atMost(Patience.of(PATIENCE)).until(() -> !a.quarantined() && !b.quarantined() && !d.quarantined());
    }

    @Test
    void membersWithDifferentListsRefuseEachOther() throws Exception {
        ClusterMember a = members.start("a", "ab", HOUR, true);
        ClusterMember b = members.start("b", "abc", HOUR, true);

        await().atMost(Patience.of(PATIENCE)).until(() -> a.waits().contains("MEMBERS"));
        assertThat(a.waits())
                .contains(String.join(",", members.ids("ab")))
                .contains(String.join(",", members.ids("abc")));
        assertThat(b.quarantined()).isTrue();
    }

    @Test
    void aMemberWithoutTheTokenFloorOfTheOthersIsSeen() throws Exception {
        // At first use b would take the others' epochs before it grants, and be above their floor.
        opened("abc", HOUR);
        List<ClusterMember> withFloor = new ArrayList<>();
        for (String letter : List.of("a", "c")) {
            members.end(letter);
            members.floor(letter, 1L << 60);
            withFloor.add(members.start(letter, "abc", HOUR, false));
        }

        await().atMost(Patience.of(PATIENCE))
                .untilAsserted(() -> assertThat(withFloor)
                        .extracting(ClusterMember::belowFloor)
                        .containsOnly(Set.of(members.id("b"))));
    }

    @Test
    void aDirectoryServesOneProcess() throws Exception {
        members.start("a", "ab", HOUR, true);

        assertThatThrownBy(() -> members.start("b", "ab", HOUR, false, members.data("a"), Set.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(
                        "is in use by process " + ProcessHandle.current().pid());
    }

    @Test
    void initIsRefusedWhereAMemberHasRun() throws Exception {
        members.start("a", "ab", HOUR, true);
        members.end("a");

        assertThatThrownBy(() -> members.start("a", "ab", HOUR, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has a member file");
        // What was tried in vain has given the directory back.
        assertThat(members.start("a", "ab", HOUR, false).quarantined()).isTrue();
    }

    @Test
    void aPortThatIsTakenEndsTheStartAndGivesTheDirectoryBack() throws Exception {
        members.start("a", "a", HOUR, true);

        assertThatThrownBy(() -> members.startAt("b", "b", members.address("a")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot listen on");
        assertThat(members.start("b", "b", HOUR, false).quarantined()).isTrue();
    }

    @Test
    void aLostDirectoryEndsTheMember() throws Exception {
        members.start("a", "a", HOUR, true);
        Files.delete(members.data("a").resolve("host.lock"));

        await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("a"));
    }

    /** A cluster that was opened under that list. */
    private void opened(String list, Duration maxTtl) throws IOException {
        List<ClusterMember> all = members.startAll(list, maxTtl, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> all.stream().noneMatch(ClusterMember::quarantined));
        // What says so is on the disk's way; an end in order waits for it.
    }
}
