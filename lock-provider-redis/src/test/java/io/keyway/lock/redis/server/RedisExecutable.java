// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import io.keyway.lock.tck.process.Patience;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opentest4j.TestAbortedException;

/**
 * A redis-server that can be started.
 *
 * @param path of the executable
 * @param version of it, such as 6.2.11
 */
public record RedisExecutable(Path path, String version) {

    private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)\\.(\\d+)");
    private static final int LEAST_INSTALLED = 7;
    private static final String OTHER = System.getProperty("keyway.redis.server", "");

    /** In a class of its own, so that the file is made once. */
    private static final class Brought {
        static final RedisExecutable SERVER = OTHER.isEmpty() ? extracted() : of(Path.of(OTHER));
    }

    /** The one that the tests bring along, or that the system property {@code keyway.redis.server} names. */
    public static RedisExecutable brought() {
        return Brought.SERVER;
    }

    /** The one on the path, if it is 7.0.0 or later. */
    public static Optional<RedisExecutable> installed() {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path file = Path.of(directory, "redis-server");
            if (Files.isExecutable(file)) {
                return Optional.of(of(file)).filter(found -> found.major() >= LEAST_INSTALLED);
            }
        }
        return Optional.empty();
    }

    /** All that there are: one or two. */
    public static List<RedisExecutable> all() {
        List<RedisExecutable> all = new ArrayList<>(List.of(brought()));
        installed().ifPresent(all::add);
        return all;
    }

    /** One of them that is of that version or later; where there is none, the test is skipped. */
    public static RedisExecutable since(int major) {
        Optional<RedisExecutable> found =
                all().stream().filter(each -> each.major() >= major).findFirst();
        return found.orElseThrow(() -> new TestAbortedException("no redis-server " + major + " or later is installed"));
    }

    /** The first number of the version. */
    public int major() {
        return Integer.parseInt(version.substring(0, version.indexOf('.')));
    }

    private static RedisExecutable of(Path file) {
        try {
            Process process = new ProcessBuilder(file.toString(), "--version").start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor(Patience.seconds(20), TimeUnit.SECONDS);
            Matcher version = VERSION.matcher(text);
            if (!version.find()) {
                throw new IllegalStateException(file + " does not tell its version: " + text);
            }
            return new RedisExecutable(file, version.group().substring(2));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static RedisExecutable extracted() {
        String name = resource();
        try (InputStream in = RedisExecutable.class.getResourceAsStream("/" + name)) {
            if (in == null) {
                throw new IllegalStateException("no " + name + " on the class path");
            }
            Path file = Files.createTempFile("keyway-redis-server", "");
            file.toFile().deleteOnExit();
            Files.write(file, in.readAllBytes());
            if (!file.toFile().setExecutable(true)) {
                throw new IllegalStateException(file + " cannot be made executable");
            }
            return of(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String resource() {
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        if (System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac")) {
            return "redis-server-6.2.6-v5-darwin-" + (arm ? "arm64" : "amd64");
        }
        return arm ? "redis-server-6.2.7-linux-arm64" : "redis-server-6.2.6-v5-linux-amd64";
    }
}
