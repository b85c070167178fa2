// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;

/** A headless Chromium that shows one page, and does what a user would. For one thread. */
public final class Browser implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
    private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");
    private static final Pattern VALUE = Pattern.compile("\"value\":(\"(?:[^\"\\\\]|\\\\.)*\"|[^,}]+)");
    private static final Pattern DATA = Pattern.compile("\"data\":\"([^\"]*)\"");
    private static final Pattern SOCKET = Pattern.compile("\"webSocketDebuggerUrl\": \"(ws:[^\"]*/page/[^\"]*)\"");

    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<String>> answers = new ConcurrentHashMap<>();
    private int commands;

    /** The program; empty if none is installed. */
    public static Optional<Path> installed() {
        List<Path> found = new ArrayList<>();
        for (String directory : System.getenv("PATH").split(":", -1)) {
            NAMES.forEach(name -> found.add(Path.of(directory, name)));
        }
        return found.stream().filter(Files::isExecutable).findFirst();
    }

    /**
     * Opens a page.
     *
     * @param program of {@link #installed}
     * @param profile an empty directory for its files
     * @param page a file
     */
    public Browser(Path program, Path profile, Path page) throws IOException, InterruptedException {
        Path log = profile.resolve("log");
        this.process = new ProcessBuilder(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--hide-scrollbars",
                        "--force-device-scale-factor=1",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        page.toUri().toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        HttpClient http = HttpClient.newHttpClient();
        Path announced = profile.resolve("DevToolsActivePort");
        Signals.until("the browser listens", LIMIT, () -> !port(announced).isEmpty());
        String port = port(announced);
        Signals.until(
                "the browser has opened the page",
                LIMIT,
                () -> !page(http, port).isEmpty());
        this.socket = http.newWebSocketBuilder()
                .buildAsync(URI.create(page(http, port)), new Listener())
                .orTimeout(Patience.seconds(LIMIT.toSeconds()), TimeUnit.SECONDS)
                .join();
        Signals.until(
                "the page is complete",
                LIMIT,
                () -> evaluate("location.protocol + document.readyState").equals("file:complete"));
    }

    /** Empty while it is not known. */
    private static String port(Path announced) {
        try {
            List<String> lines = Files.exists(announced) ? Files.readAllLines(announced) : List.of();
            return lines.isEmpty() ? "" : lines.get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where the page can be asked; empty while it cannot. */
    private static String page(HttpClient http, String port) {
        HttpRequest list = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
                .build();
        String pages = http.sendAsync(list, HttpResponse.BodyHandlers.ofString())
                .thenApply(HttpResponse::body)
                .exceptionally(notYet -> "")
                .join();
        Matcher found = SOCKET.matcher(pages);
        return found.find() ? found.group(1) : "";
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                Matcher id = ID.matcher(text);
                CompletableFuture<String> answer = id.find() ? answers.remove(Integer.parseInt(id.group(1))) : null;
                if (answer != null) {
                    answer.complete(text.toString());
                }
                text.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    /** @param arguments the members of a JSON object, or nothing */
    private String command(String method, String arguments) {
        int id = ++commands;
        CompletableFuture<String> answer = new CompletableFuture<>();
        answers.put(id, answer);
        socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{" + arguments + "}}", true)
                .join();
        String told = answer.orTimeout(Patience.seconds(LIMIT.toSeconds()), TimeUnit.SECONDS)
                .join();
        if (told.contains("\"error\":") || told.contains("exceptionDetails")) {
            throw new IllegalStateException(method + " " + arguments + ": " + told);
        }
        return told;
    }

    /** The value of an expression, as text. */
    public String evaluate(String expression) {
        String quoted = expression.replace("\\", "\\\\").replace("\"", "\\\"");
        Matcher value = VALUE.matcher(
                command("Runtime.evaluate", "\"expression\":\"String(" + quoted + ")\",\"awaitPromise\":true"));
        if (!value.find()) {
            throw new AssertionError(expression + " has no value");
        }
        return value.group(1).replaceAll("^\"|\"$", "");
    }

    /** Waits until the page was drawn after what was done before. */
    public void drawn() {
        command(
                "Runtime.evaluate",
                "\"expression\":\"new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))\","
                        + "\"awaitPromise\":true");
    }

    /** Of the window, in points; a mobile one is touched. */
    public void size(int width, int height, boolean mobile) {
        command(
                "Emulation.setDeviceMetricsOverride",
                "\"width\":" + width + ",\"height\":" + height + ",\"deviceScaleFactor\":1,\"mobile\":" + mobile);
        command("Emulation.setTouchEmulationEnabled", "\"enabled\":" + mobile);
        drawn();
    }

    /**
     * What the user prefers.
     *
     * @param scheme light or dark
     */
    public void colors(String scheme) {
        command(
                "Emulation.setEmulatedMedia",
                "\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + scheme + "\"}]");
        drawn();
    }

    /**
     * Presses a key.
     *
     * @param code the Windows code of the key
     */
    public void press(String key, int code) {
        for (String type : List.of("rawKeyDown", "keyUp")) {
            command(
                    "Input.dispatchKeyEvent",
                    "\"type\":\"" + type + "\",\"key\":\"" + key + "\",\"code\":\"" + key
                            + "\",\"windowsVirtualKeyCode\":" + code);
        }
        drawn();
    }

    /**
     * Moves the mouse there, or presses or releases its left button.
     *
     * @param type mouseMoved, mousePressed or mouseReleased
     */
    public void mouse(String type, double x, double y) {
        boolean moves = type.equals("mouseMoved");
        command(
                "Input.dispatchMouseEvent",
                "\"type\":\"" + type + "\",\"x\":" + x + ",\"y\":" + y + ",\"button\":\"" + (moves ? "none" : "left")
                        + "\",\"clickCount\":" + (moves ? 0 : 1));
        drawn();
    }

    /** A finger, at that place. */
    public void tap(double x, double y) {
        command(
                "Input.dispatchTouchEvent",
                "\"type\":\"touchStart\",\"touchPoints\":[{\"x\":" + x + ",\"y\":" + y + "}]");
        command("Input.dispatchTouchEvent", "\"type\":\"touchEnd\",\"touchPoints\":[]");
        drawn();
    }

    /** What it shows now, which is written into that file too. */
    public Screenshot screenshot(Path file) {
        Matcher data = DATA.matcher(command("Page.captureScreenshot", "\"format\":\"png\""));
        if (!data.find()) {
            throw new AssertionError("no screenshot");
        }
        byte[] png = Base64.getDecoder().decode(data.group(1));
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, png);
            return new Screenshot(ImageIO.read(new ByteArrayInputStream(png)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        socket.abort();
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        process.destroy();
        process.waitFor();
        for (ProcessHandle each : all) { // they write into the profile until they have ended
            each.destroyForcibly();
            each.onExit()
                    .orTimeout(Patience.seconds(LIMIT.toSeconds()), TimeUnit.SECONDS)
                    .join();
        }
    }
}
