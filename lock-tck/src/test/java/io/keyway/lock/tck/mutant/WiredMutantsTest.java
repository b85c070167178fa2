// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connections that a client leaves open, or goes on with when they are dead, before which a proxy of the kit stands.
 */
class WiredMutantsTest {
    private static final String DEAD = "LK-304/a-connection-that-is-dead-is-replaced";
    private static final String LAST_STEP = "LK-1503/no-step-that-was-carried-out-is-said-not-to-be";
    private static final String INTERRUPT = "LK-1505/an-interrupt-ends-an-attempt-at-whichever-step-it-is";
    private static final String LEFT_OPEN = "LK-1004/after-close-no-connection-of-the-client-is-left";

    @AutoClose
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    WiredMutantsTest() throws IOException {
        daemon(this::serve);
    }

    @Test
    void whoClosesItsConnectionsPasses() throws Exception {
        assertThat(run("none", LEFT_OPEN).verdict()).isEqualTo(Verdict.PASS);
    }

    @Test
    void whoMakesANewConnectionForADeadOnePasses() throws Exception {
        assertThat(run("none", DEAD).verdict()).isEqualTo(Verdict.PASS);
    }

    @Test
    @Tag("soak") // the check waits for its whole patience
    void whoGoesOnWithADeadOneIsFound() throws Exception {
        CheckResult result = run(WiredProvider.STUCK, DEAD);
        assertThat(result.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result.message()).contains("whose connections are dead");
    }

    @ParameterizedTest
    @Tag("soak") // the check waits for its whole patience
    @ValueSource(strings = {WiredProvider.POOL, WiredProvider.SUBSCRIPTION})
    void whoLeavesOneOpenIsFound(String defect) throws Exception {
        CheckResult result = run(defect, LEFT_OPEN);
        assertThat(result.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result.message()).contains("after its close()");
    }

    /** How much its machine has to do must not decide whether a defect is looked for. */
    @ParameterizedTest
    @ValueSource(strings = {WiredProvider.STEPS, WiredProvider.SLOW})
    void whoTakesSeveralStepsPasses(String provider) throws Exception {
        CheckResult result = run(provider, LAST_STEP);
        assertThat(result.verdict()).as(result.message()).isEqualTo(Verdict.PASS);
    }

    @Test
    void whoSaysOfALaterStepThatItWasNotExecutedIsFound() throws Exception {
        assertThat(run(WiredProvider.WRONG, LAST_STEP).verdict()).isEqualTo(Verdict.FAIL);
    }

    @ParameterizedTest
    @Tag("soak") // the check waits for its whole patience
    @CsvSource({WiredProvider.SLOWEST + ", " + LAST_STEP, WiredProvider.LONG + ", " + INTERRUPT})
    void aCheckThatHasNoTimeHasNoVerdict(String provider, String check) throws Exception {
        CheckResult result = run(provider, check);
        assertThat(result.verdict()).as(result.message()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(result.message()).contains("--time-factor");
    }

    @Test
    void whoHearsInterruptsAtEachStepPasses() throws Exception {
        CheckResult result = run(WiredProvider.STEPS, INTERRUPT);
        assertThat(result.verdict()).as(result.message()).isEqualTo(Verdict.PASS);
    }

    @Test
    void whoSwallowsAnInterruptInALaterStepIsFound() throws Exception {
        CheckResult result = run(WiredProvider.DEAF, INTERRUPT);
        assertThat(result.verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result.message()).contains("from number 2 on", "after its thread was interrupted");
    }

    private CheckResult run(String defect, String check) throws InterruptedException {
        String url = "lock:wired://127.0.0.1:" + server.getLocalPort() + "/" + defect;
        TckConfig config = TckConfig.of(Profile.QUICK).withOnly(List.of(check));
        return TckRunner.run(TckSubject.of(url), config).checks().get(0);
    }

    private void serve() {
        try {
            while (true) {
                Socket socket = server.accept();
                daemon(() -> sendBack(socket));
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    private static void sendBack(Socket socket) {
        try (socket) {
            socket.getInputStream().transferTo(socket.getOutputStream());
        } catch (IOException e) {
            // A proxy has broken it.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "wired");
        thread.setDaemon(true);
        thread.start();
    }
}
