// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckListener;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckResult.Outcome;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Expectations;
import io.keyway.lock.tck.command.OddProviders.Defect;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a provider can do to the JVM that it is tested in, and what the run says of it. */
@Execution(ExecutionMode.CONCURRENT)
class IsolatedRunTest {
    private static final String HOLDER_WAITS = "LK-313/the-holder-itself-waits-as-any-other";
    private static final TckConfig FEW =
            TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-301/a-second", "LK-301/of-many", HOLDER_WAITS));

    @TempDir
    Path directory;

    private final List<CheckResult> told = new CopyOnWriteArrayList<>();

    private TckResult run(Defect defect) throws Exception {
        return run(defect, FEW);
    }

    private TckResult run(Defect defect, TckConfig config) throws Exception {
        return new IsolatedRun(
                        "lock:odd://x",
                        config,
                        List.of(OddProviders.jar(directory, defect)),
                        ServerCommands.none(),
                        directory.resolve("provider.log"),
                        listener())
                .run();
    }

    private TckListener listener() {
        return new TckListener() {
            @Override
            public void finished(CheckResult check) {
                told.add(check);
            }
        };
    }

    private static CheckResult result(TckResult run, String id) {
        return run.checks().stream()
                .filter(check -> check.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aGoodProviderIsCompatibleWhateverItPrints() throws Exception {
        TckResult run =
                run(Defect.inTryAcquire("System.out.println(\"keyway-tck noise\"); System.err.println(\"to err\");"
                        + " new java.io.PrintStream(new "
                        + "java.io.FileOutputStream(java.io.FileDescriptor.out), true).println(\"to "
                        + "the descriptor\");"));
        assertThat(run.outcome()).as("%s", run).isEqualTo(Outcome.COMPATIBLE);
        assertThat(run.provider()).isEqualTo("odd");
        assertThat(run.providerVersion()).isEqualTo("0.9");
        assertThat(run.guarantees()).isPresent();
        assertThat(told).hasSize(3).containsExactlyInAnyOrderElementsOf(run.checks());
        assertThat(directory.resolve("provider.log"))
                .content()
                .contains("keyway-tck noise", "to err", "to the descriptor");
    }

    @Test
    @Tag("soak")
    void aConstructorThatThrowsIsNamed() throws Exception {
        TckResult run = run(Defect.inConstructor("if (true) throw new IllegalStateException(\"no native library\");"));
        assertThat(run.outcome()).isEqualTo(Outcome.CANNOT_OPEN);
        assertThat(run.trouble().orElseThrow().message()).contains("odd.Odd", "no native library");
    }

    @Test
    @Tag("soak")
    void anOpenThatThrowsIsShownWithTheStack() throws Exception {
        TckResult run = run(Defect.inOpen("if (true) throw new IndexOutOfBoundsException(\"no such host\");"));
        assertThat(run.outcome()).isEqualTo(Outcome.CANNOT_OPEN);
        assertThat(run.provider()).as("who was asked is known").isEqualTo("odd");
        assertThat(run.trouble().orElseThrow().message())
                .contains("IndexOutOfBoundsException: no such host", "odd.Odd.open");
    }

    @Test
    @Tag("soak")
    void hangingInOpenIsShownWithTheStack() throws Exception {
        TckConfig brief = FEW.withCheckLimit(Patience.of(Duration.ofSeconds(4)));
        TckResult run =
                run(Defect.inOpen("try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { }"), brief);
        assertThat(run.outcome()).isEqualTo(Outcome.CANNOT_OPEN);
        assertThat(run.trouble().orElseThrow().message())
                .contains(
                        "did not end within "
                                + Expectations.text(brief.checkLimit().dividedBy(2)),
                        "odd.Odd.open");
    }

    @Test
    @Tag("soak")
    void aClockThatStandsStillIsNamed() throws Exception {
        TckResult run = new IsolatedRun(
                        "lock:reference://x?clock=manual",
                        FEW,
                        List.of(),
                        ServerCommands.none(),
                        directory.resolve("provider.log"),
                        listener())
                .run();
        assertThat(run.outcome()).isEqualTo(Outcome.CANNOT_OPEN);
        assertThat(run.trouble().orElseThrow().message()).contains("stands still", "TckSubject.withAdvance");
    }

    @Test
    @Tag("soak")
    void threadsThatStayAreNamed() throws Exception {
        TckResult run = run(
                Defect.inOpen(
                        "new Thread(() -> { try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { } },"
                                + " \"keyway-odd\").start();"),
                TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-1004/after-close-no-thread")));
        assertThat(run.outcome()).as("%s", run).isEqualTo(Outcome.NOT_COMPATIBLE);
        assertThat(run.with(Verdict.FAIL)).hasSize(1);
        assertThat(run.with(Verdict.FAIL).get(0).message()).contains("keyway-odd");
    }

    @Test
    @Tag("soak")
    void whoEndsTheJvmWhileItIsOpenedIsShown() throws Exception {
        TckResult run = run(
                Defect.inTryAcquire("System.err.write(0xFF); System.err.println(\"fatal: goodbye\"); System.exit(9);"));
        assertThat(run.outcome()).isEqualTo(Outcome.CANNOT_OPEN);
        assertThat(run.trouble().orElseThrow().message())
                .contains("ended the JVM (exit code 9)", "odd.Odd$OddLock.tryAcquire", "fatal: goodbye");
    }

    @Test
    void theCheckInWhichTheJvmEndsIsFoundAmongThoseThatRunBesideIt() throws Exception {
        TckResult run = run(Defect.inTryAcquire("if (name.contains(\"LK-313\")) System.exit(9);"));
        assertThat(run.outcome()).as("%s", run).isEqualTo(Outcome.NOT_COMPATIBLE);
        CheckResult guilty = result(run, HOLDER_WAITS);
        assertThat(guilty.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(guilty.message()).isEqualTo("the provider ended the JVM (exit code 9)");
        assertThat(guilty.evidence().orElseThrow()).contains("java.lang.System.exit", "odd.Odd$OddLock.tryAcquire");
        assertThat(run.count(Verdict.PASS)).isEqualTo(2);
    }

    @Test
    @Tag("soak")
    void aJvmThatEndsWithoutAWordIsNoticedToo() throws Exception {
        TckResult run = run(
                Defect.inTryAcquire("if (name.contains(\"LK-313\")) Runtime.getRuntime().halt(7);"),
                FEW.withOnly(List.of(HOLDER_WAITS)));
        assertThat(result(run, HOLDER_WAITS).verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result(run, HOLDER_WAITS).message()).contains("exit code 7");
    }

    @Test
    @Tag("soak")
    void aProviderThatAlwaysEndsTheJvmIsGivenUp() throws Exception {
        TckResult run = run(
                Defect.inTryAcquire("if (!name.startsWith(\"tck/look\")) Runtime.getRuntime().halt(7);"),
                TckConfig.of(Profile.SMOKE).withParallel(1));
        assertThat(run.outcome()).isEqualTo(Outcome.NOT_COMPATIBLE);
        assertThat(run.checks())
                .hasSize(TckRunner.planned(TckConfig.of(Profile.SMOKE)).size());
        assertThat(run.count(Verdict.FAIL)).isLessThanOrEqualTo(5);
    }

    private IsolatedRun onRows(String defect) {
        return new IsolatedRun(
                "lock:row-mutant:" + defect + "://" + directory.resolve("rows"),
                TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-608/each-token")),
                List.of(),
                ServerCommands.none(),
                directory.resolve("provider.log"),
                listener());
    }

    private List<String> places() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith("rows-tck-"))
                    .toList();
        }
    }

    private void awaitPlace() {
        await("a check uses its place for tests")
                .atMost(Patience.of(Duration.ofSeconds(60)))
                .until(() -> !places().isEmpty());
    }

    @Test
    void whatAJvmThatEndedLeftInAPlaceForTestsIsRemoved() throws Exception {
        TckResult run = onRows("ends-the-jvm").run();
        assertThat(run.checks().get(0).message()).contains("exit code 7").doesNotContain("not removed");
        assertThat(places()).isEmpty();
        assertThat(directory.resolve("rows")).exists();
    }

    @Test
    @Tag("soak")
    void whatACancelledRunLeftInAPlaceForTestsIsRemoved() throws Exception {
        IsolatedRun run = onRows("hangs");
        CompletableFuture<TckResult> result = new CompletableFuture<>();
        Thread runs = new Thread(() -> {
            try {
                result.complete(run.run());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        runs.start();
        awaitPlace();
        run.cancel();
        assertThat(result.get().outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(result.get().trouble().orElseThrow().message()).doesNotContain("not removed");
        assertThat(places()).isEmpty();
    }

    @Test
    @Tag("soak")
    void whatAJvmWithoutAParentLeftInAPlaceForTestsIsRemoved() throws Exception {
        Wire.Message order = new Wire.Message.Order(
                "lock:row-mutant:hangs://" + directory.resolve("rows"),
                TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-608/each-token")),
                directory.resolve("provider.log").toString(),
                ServerCommands.none().fields(),
                Optional.empty());
        List<String> command = ChildJvm.command(TckChild.class);
        try (ChildProcess child = ChildProcess.start(Map.of(), command)) {
            child.type(Wire.line(order) + "\n");
            awaitPlace();
            child.endInput();
            assertThat(child.exitCode()).isEqualTo(1);
        }
        assertThat(places()).isEmpty();
    }

    @Test
    @Tag("soak")
    void aCancelledRunKeepsWhatItHas() throws Exception {
        Path jar = OddProviders.jar(directory, Defect.inTryAcquire(""));
        AtomicReference<IsolatedRun> running = new AtomicReference<>();
        IsolatedRun run = new IsolatedRun(
                "lock:odd://x",
                FEW.withParallel(1),
                List.of(jar),
                ServerCommands.none(),
                directory.resolve("provider.log"),
                new TckListener() {
                    @Override
                    public void finished(CheckResult check) {
                        told.add(check);
                        running.get().cancel();
                    }
                });
        running.set(run);
        TckResult result = run.run();
        assertThat(result.outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(result.checks()).hasSize(1);
        assertThat(result.provider()).isEqualTo("odd");
    }
}
