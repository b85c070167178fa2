// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckResult.Outcome;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.command.OddProviders.Defect;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the commands for a server do in a run. */
@Execution(ExecutionMode.CONCURRENT)
class ServerCommandsTest {
    private static final TckConfig OVER_A_RESTART = TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-603"));

    @TempDir
    Path directory;

    private TckResult run(ServerCommands commands) throws Exception {
        Path jar = OddProviders.jar(directory, Defect.inTryAcquire(""));
        Path log = directory.resolve("provider.log");
        TckListener silent = new TckListener() {};
        return new IsolatedRun("lock:odd://x", OVER_A_RESTART, List.of(jar), commands, log, silent).run();
    }

    private String note(String word) {
        return "echo " + word + " >> '" + directory.resolve("did") + "'";
    }

    @Test
    void aCheckKillsTheServerAndStartsItAgain() throws Exception {
        TckResult run = run(new ServerCommands(note("killed"), note("started"), null, null, null));
        assertThat(run.outcome()).as("%s", run.checks()).isEqualTo(Outcome.COMPATIBLE);
        assertThat(directory.resolve("did")).hasContent("killed\nstarted\n");
    }

    @Test
    @Tag("soak")
    void withoutCommandsTheCheckIsNotRun() throws Exception {
        CheckResult check = run(ServerCommands.none()).checks().get(0);
        assertThat(check.verdict()).isEqualTo(Verdict.NOT_RUN);
        assertThat(check.message()).contains("--kill-command");
    }

    @Test
    @Tag("soak")
    void aCommandThatFailsIsNoFaultOfTheProvider() throws Exception {
        TckResult run = run(new ServerCommands("echo no such server; exit 3", note("started"), null, null, null));
        assertThat(run.outcome()).isEqualTo(Outcome.INCOMPLETE);
        CheckResult check = run.checks().get(0);
        assertThat(check.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(check.message()).contains("could not be killed", "ended with 3", "exit 3", "provider's log");
        assertThat(directory.resolve("provider.log")).content().contains("no such server");
        assertThat(directory.resolve("did")).as("the server may be down").hasContent("started\n");
    }

    private CheckResult counted(String command) throws Exception {
        TckConfig keeps = TckConfig.of(Profile.QUICK).withOnly(List.of("LK-1518/what-is-over"));
        String url = "lock:row-mutant:none://" + directory.resolve("rows");
        ServerCommands commands = new ServerCommands(null, null, null, null, command);
        Path log = directory.resolve("provider.log");
        return new IsolatedRun(url, keeps, List.of(), commands, log, new TckListener() {})
                .run()
                .checks()
                .get(0);
    }

    @Test
    @Tag("soak")
    void whatTheStoreKeepsIsCounted() throws Exception {
        String kept = "'" + directory.resolve("kept") + "'";
        assertThat(counted("echo 3").verdict()).isEqualTo(Verdict.PASS);
        CheckResult grows = counted("seq 100 >> " + kept + "; wc -l < " + kept);
        assertThat(grows.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(grows.message()).contains("the store kept");
    }

    @Test
    @Tag("soak")
    void aCountThatIsNoneIsNoFaultOfTheProvider() throws Exception {
        CheckResult check = counted("echo many");
        assertThat(check.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(check.message()).contains("could not be counted", "printed 'many'");
    }

    @Test
    void whoCanKillMustBeAbleToStart() {
        assertThatThrownBy(() -> new ServerCommands("kill", null, null, null, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--kill-command needs --start-command");
        assertThatThrownBy(() -> new ServerCommands(null, null, null, "resume", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--resume-command needs --pause-command");
    }
}
