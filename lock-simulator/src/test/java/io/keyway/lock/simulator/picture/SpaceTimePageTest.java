// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.simulator.Simulation;
import io.keyway.lock.simulator.SimulationSettings;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.testing.Browser;
import io.keyway.lock.testing.Screenshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in a browser, at the widths of a desk and of a hand: it draws bars and arrows, and the slider, keys, mouse
 * and fingers move it. The screenshots are left in {@code target/screenshots}.
 */
@Tag("soak")
class SpaceTimePageTest {
    /** The believing bar of the first lock, and the line of the slider. */
    private static final int BELIEF = 0x2975C2;

    private static final int MARK = 0xD9480F;
    private static final int LOST = 0xC62828;
    private static final int DARK_BACK = 0x14171B;
    private static final Path SCREENSHOTS = Path.of("target/screenshots");

    @TempDir
    Path directory;

    private Browser browser;

    @BeforeEach
    void aBrowserIsInstalled() {
        assumeTrue(Browser.installed().isPresent(), "no Chromium or Chrome on the PATH: nothing shows the page");
    }

    @AfterEach
    void close() throws InterruptedException {
        if (browser != null) {
            browser.close();
        }
    }

    private void open(SimulationSettings settings) throws IOException, InterruptedException {
        Run run = Simulation.run(settings, "keyway simulate").picture();
        Path page = Files.writeString(directory.resolve("run.html"), SpaceTimePage.of(run));
        Optional<Path> program = Browser.installed();
        browser = new Browser(program.orElseThrow(), Files.createDirectory(directory.resolve("profile")), page);
    }

    private void openSmall() throws IOException, InterruptedException {
        open(new SimulationSettings("lease", 7, 1, 3, 1, 12, 0, List.of("cut", "loss", "loss", "crash"), List.of()));
    }

    private int data(String name) {
        return Integer.parseInt(browser.evaluate("document.getElementById('canvas').dataset." + name));
    }

    private String text(String id) {
        return browser.evaluate("document.getElementById('" + id + "').textContent");
    }

    /** Where the line of the slider is. */
    private static int slider(Screenshot image) {
        int best = image.fullest(MARK);
        assertThat(image.column(best, MARK)).as("a line from top to bottom").isGreaterThan(200);
        return best;
    }

    @Test
    void onADesk() throws IOException, InterruptedException {
        openSmall();
        browser.size(1280, 900, false);
        browser.evaluate("fit()");
        browser.drawn();
        Screenshot first = browser.screenshot(SCREENSHOTS.resolve("1280-light.png"));

        assertThat(data("arrows")).isGreaterThan(30);
        assertThat(data("lost")).isPositive();
        assertThat(data("bars")).isGreaterThan(5);
        assertThat(first.pixels(BELIEF)).isGreaterThan(100);
        assertThat(first.pixels(LOST)).isPositive();

        assertThat(browser.evaluate("events[selected].at === Math.min(...bars.map(bar => bar.from))"))
                .as("it opens where the first lock is granted")
                .isEqualTo("true");
        assertThat(text("states")).contains("has granted");
        browser.press("Home", 36);
        assertThat(browser.evaluate("tick(1183344000, 5e8)")).isEqualTo("1.2 s");
        assertThat(browser.evaluate("events.some(isEnd)"))
                .as("a crash is marked")
                .isEqualTo("true");
        browser.press("ArrowRight", 39);
        browser.press("ArrowRight", 39);
        assertThat(data("selected")).isEqualTo(2);
        assertThat(text("where")).startsWith("3 / ");
        browser.press("End", 35);
        int end = data("selected");
        assertThat(slider(browser.screenshot(SCREENSHOTS.resolve("1280-end.png"))))
                .isGreaterThan(slider(first) + 300);
        browser.press("PageUp", 33);
        assertThat(data("selected")).isEqualTo(end - 20);
        browser.press("Home", 36);
        assertThat(data("selected")).isZero();

        browser.evaluate("(slider => { slider.value = 40; slider.dispatchEvent(new Event('input')); })"
                + "(document.getElementById('slider'))");
        browser.drawn();
        assertThat(data("selected")).isEqualTo(40);
        assertThat(text("states")).contains("n0").contains("granted to client");
        assertThat(browser.evaluate("document.documentElement.scrollWidth")).isEqualTo("1280");

        browser.colors("dark");
        Screenshot dark = browser.screenshot(SCREENSHOTS.resolve("1280-dark.png"));
        assertThat(dark.pixels(DARK_BACK)).isGreaterThan(dark.pixels(0xFFFFFF)).isGreaterThan(300_000);

        browser.evaluate("histories.forEach(machines => machines.clear()), select(0)");
        assertThat(text("states")).as("a panel says why it is empty").startsWith("No process holds");
    }

    /** The place on the screen where that event's arrow ends. */
    private double[] place(int event) {
        String at = browser.evaluate("(() => { const r = document.getElementById('canvas').getBoundingClientRect(),"
                + " a = start(" + event + "), b = end(" + event + ");"
                + " return (r.left + (a.x + b.x) / 2) + ' ' + (r.top + (a.y + b.y) / 2); })()");
        String[] both = at.split(" ", -1);
        return new double[] {Double.parseDouble(both[0]), Double.parseDouble(both[1])};
    }

    @Test
    void theMouseTellsAMessageAndChoosesIt() throws IOException, InterruptedException {
        openSmall();
        browser.size(1280, 900, false);
        int lost = Integer.parseInt(browser.evaluate("events.findIndex(event => event.kind === 'lost')"));
        browser.evaluate("select(" + lost + ")");
        browser.evaluate("select(0, false)");
        browser.drawn();
        double[] at = place(lost);

        browser.mouse("mouseMoved", at[0], at[1]);
        browser.screenshot(SCREENSHOTS.resolve("1280-hover.png"));
        assertThat(browser.evaluate("document.getElementById('tip').hidden")).isEqualTo("false");
        assertThat(text("tip"))
                .isEqualTo(browser.evaluate("sentence(" + lost + ")").replace("\\\"", "\""));

        browser.mouse("mousePressed", at[0], at[1]);
        browser.mouse("mouseReleased", at[0], at[1]);
        assertThat(data("selected")).isEqualTo(lost);
    }

    @Test
    void inAHand() throws IOException, InterruptedException {
        openSmall();
        browser.size(400, 860, true);
        browser.evaluate("select(0)");
        Screenshot image = browser.screenshot(SCREENSHOTS.resolve("400-light.png"));

        assertThat(image.width()).isEqualTo(400);
        assertThat(browser.evaluate("document.documentElement.scrollWidth"))
                .as("nothing sticks out")
                .isEqualTo("400");
        assertThat(data("arrows")).isPositive();
        slider(image);

        double[] at = place(4);
        browser.tap(at[0], at[1]);
        assertThat(data("selected")).isEqualTo(4);
        assertThat(browser.evaluate("document.getElementById('tip').hidden")).isEqualTo("false");
        browser.evaluate("fit()");
        browser.colors("dark");
        assertThat(browser.screenshot(SCREENSHOTS.resolve("400-dark.png")).pixels(DARK_BACK))
                .isGreaterThan(100_000);
    }

    /** A frame has 16 ms; the bound is ten times that. */
    @Test
    void tenThousandEventsStayFluid() throws IOException, InterruptedException {
        open(new SimulationSettings("lamport", 3, 0, 6, 3, 3_000, 0, List.of("cut", "crash"), List.of()));
        browser.size(1280, 900, false);
        assertThat(Integer.parseInt(browser.evaluate("count"))).isGreaterThan(10_000);
        double worst = 0;
        for (String step : List.of("select(5000)", "zoom(1.5, 600)", "select(count - 1)", "fit()", "select(7000)")) {
            browser.evaluate(step);
            browser.drawn();
            worst = Math.max(
                    worst, Double.parseDouble(browser.evaluate("document.getElementById('canvas').dataset.millis")));
        }
        browser.screenshot(SCREENSHOTS.resolve("1280-many.png"));
        assertThat(worst).as("milliseconds of a frame").isLessThan(160 * Patience.factor());
        assertThat(data("arrows")).as("all are in view").isGreaterThan(5_000);
        browser.evaluate("zoom(100, 600)");
        browser.drawn();
        assertThat(data("arrows")).as("what is not in view is not drawn").isLessThan(500);
    }
}
