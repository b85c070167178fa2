// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import io.keyway.lock.testing.Browser;
import io.keyway.lock.testing.Screenshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What `keyway load --html` and `keyway trace --html` write, in a browser, at the widths of a desk and of a hand. The
 * screenshots are left in {@code target/screenshots}.
 */
@Tag("soak")
class PagesInBrowserTest {
    private static final Path SCREENSHOTS = Path.of("target/screenshots");
    private static final int LEFT = 37;
    private static final int RIGHT = 39;
    private static final int END = 35;
    private static final int HOME = 36;
    /** Of the first client's bars, and of the believing bar of the first lock; light. */
    private static final int FIRST_CLIENT = 0x367FC9;

    private static final int BELIEF = 0x2975C2;
    private static final int SLIDER = 0xD9480F;
    private static final int DARK_BACK = 0x14171B;
    /** A frame has 16 ms; the bound is ten times that. */
    private static final double FLUID = 160;

    @TempDir
    Path directory;

    private final List<ChildProcess> started = new ArrayList<>();
    private Browser browser;

    @BeforeEach
    void aBrowserIsInstalled() {
        assumeTrue(Browser.installed().isPresent(), "no Chromium or Chrome on the PATH: nothing shows the page");
    }

    @AfterEach
    void end() throws InterruptedException {
        if (browser != null) {
            browser.close();
        }
        started.forEach(ChildProcess::close);
    }

    private ChildProcess keyway(String... words) {
        List<String> all = new ArrayList<>(List.of(Installation.get().script().toString()));
        all.addAll(List.of(words));
        ChildProcess process = ChildProcess.start(Map.of(), all);
        started.add(process);
        return process;
    }

    private void done(String... words) throws Exception {
        ChildProcess process = keyway(words);
        assertThat(process.exitCode()).as(process.err()).isZero();
    }

    private void open(Path page) throws IOException, InterruptedException {
        browser = new Browser(
                Browser.installed().orElseThrow(), Files.createDirectory(directory.resolve("profile")), page);
    }

    private double data(String canvas, String name) {
        return Double.parseDouble(browser.evaluate("document.getElementById('" + canvas + "').dataset." + name));
    }

    private void click(String button) {
        browser.evaluate("document.getElementById('" + button + "').click()");
        browser.drawn();
    }

    private Screenshot shown(String name, int width) {
        browser.drawn();
        Screenshot shown = browser.screenshot(SCREENSHOTS.resolve(name));
        assertThat(shown.width()).isEqualTo(width);
        assertThat(browser.evaluate("document.documentElement.scrollWidth"))
                .as("nothing sticks out")
                .isEqualTo(String.valueOf(width));
        return shown;
    }

    @Test
    void whoHeldWhatWhenInALoadOfManyThousandHolds() throws Exception {
        Path page = directory.resolve("load.html");
        done(
                "load",
                "lock:native:mem://pictures",
                "--clients",
                "2",
                "--locks",
                "50",
                "--burst",
                "200",
                "--lease-time",
                "1s",
                "--wait",
                "1ms",
                "--partition-every",
                "2s",
                "--duration",
                "10s",
                "--html",
                page.toString());
        open(page);
        browser.size(1280, 1000, false);
        double holds = Double.parseDouble(browser.evaluate("spans.length"));
        assertThat(holds).isGreaterThan(10_000);
        assertThat(data("held", "bars")).isEqualTo(holds);
        // The end of a lost lease is red, and no client is: by so many degrees.
        String fromRed = "Math.abs((hue(i) + 177) % 360 - 180)";
        assertThat(browser.evaluate("Array.from({length: 40}, (none, i) => " + fromRed + ").every(each => each >= 25)"))
                .isEqualTo("true");
        browser.evaluate("document.getElementById('held').scrollIntoView()");
        assertThat(shown("load-1280.png", 1280).pixels(FIRST_CLIENT)).isGreaterThan(200);

        double worst = data("held", "millis");
        for (String button : List.of("in", "in", "right", "left", "in", "out", "all")) {
            click(button);
            worst = Math.max(worst, data("held", "millis"));
        }
        assertThat(worst).as("milliseconds of a frame").isLessThan(FLUID * Patience.factor());
        for (int i = 0; i < 12; i++) {
            click("in");
        }
        assertThat(data("held", "bars")).as("what is not in view is not drawn").isLessThan(holds / 10);
        click("all");

        browser.evaluate("document.getElementById('held').focus()");
        browser.press("n", 'N');
        browser.press("n", 'N');
        assertThat(data("held", "chosen")).isEqualTo(1);
        assertThat(browser.evaluate("document.getElementById('said').textContent"))
                .startsWith("Lock ")
                .contains("asked at")
                .contains("held it");
        browser.press("ArrowRight", RIGHT);
        assertThat(data("held", "from"))
                .as("all is in view: there is nowhere to go")
                .isZero();
        click("in");
        double from = data("held", "from");
        browser.press("ArrowRight", RIGHT);
        assertThat(data("held", "from")).isGreaterThan(from);
        browser.press("ArrowLeft", LEFT);
        assertThat(data("held", "from")).isLessThan(from + 1);
        assertThat(browser.evaluate("document.querySelectorAll('#waits tr').length"))
                .isEqualTo("9");

        browser.size(400, 860, true);
        assertThat(shown("load-400.png", 400).pixels(FIRST_CLIENT)).isGreaterThan(50);
        browser.colors("dark");
        assertThat(shown("load-400-dark.png", 400).pixels(DARK_BACK)).isGreaterThan(50_000);
    }

    @Test
    void whatMembersHaveRecorded() throws Exception {
        String id = "127.0.0.1:" + Ports.free();
        String data = directory.resolve("member").toString();
        keyway("member", "--listen", id, "--members", id, "--init", "--data", data, "--trace")
                .errLine("is open");
        String url = "lock:native://" + id + "/keyway";
        done("load", url, "--clients", "3", "--ops", "40", "--locks", "2", "--wait", "200ms");
        Path page = directory.resolve("trace.html");
        done("trace", url, "--events", "600", "--html", page.toString());
        open(page);
        browser.size(1280, 900, false);
        browser.evaluate("fit()");
        Screenshot first = shown("trace-1280.png", 1280);
        assertThat(data("canvas", "arrows")).isGreaterThan(100);
        assertThat(data("canvas", "bars")).isGreaterThan(10);
        assertThat(first.pixels(BELIEF)).isGreaterThan(100);

        browser.press("End", END);
        assertThat(data("canvas", "selected")).isEqualTo(599);
        Screenshot last = shown("trace-1280-end.png", 1280);
        assertThat(last.fullest(SLIDER)).as("the slider has moved").isGreaterThan(first.fullest(SLIDER) + 300);
        browser.press("Home", HOME);
        assertThat(data("canvas", "selected")).isZero();
        browser.press("ArrowRight", RIGHT);
        assertThat(data("canvas", "selected")).isEqualTo(1);

        browser.size(400, 860, true);
        Screenshot small = shown("trace-400.png", 400);
        assertThat(small.column(small.fullest(SLIDER), SLIDER)).isGreaterThan(200);
        assertThat(data("canvas", "arrows")).isPositive();
        browser.colors("dark");
        assertThat(shown("trace-400-dark.png", 400).pixels(DARK_BACK)).isGreaterThan(100_000);
    }
}
