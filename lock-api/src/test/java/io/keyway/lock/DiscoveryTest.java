// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.fixture.GoodProvider;
import io.keyway.lock.fixture.OldProvider;
import io.keyway.lock.fixture.OpenProvider;
import io.keyway.lock.fixture.StaticProvider;
import io.keyway.lock.fixture.ThrowingProvider;
import io.keyway.lock.fixture.TwinProvider;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One broken entry never hides a good one, and errors say what was found and what failed. */
class DiscoveryTest {
    private static final LockUrl GOOD = LockUrl.parse("lock:good://u:s3cr3t@h");

    @TempDir
    Path dir;

    private Path brokenJar() {
        return ProviderJars.write(
                dir.resolve("broken.jar"),
                List.of(StaticProvider.class, ThrowingProvider.class, OldProvider.class, GoodProvider.class),
                "io.keyway.lock.fixture.MissingProvider",
                StaticProvider.class.getName(),
                ThrowingProvider.class.getName(),
                OldProvider.class.getName(),
                ProviderJars.class.getName(),
                GoodProvider.class.getName());
    }

    @Test
    void brokenEntriesHideNoGoodOne() throws Exception {
        try (URLClassLoader loader = ProviderJars.loader(brokenJar())) {
            Discovery discovery = Locks.discover(loader);

            assertThat(discovery.providers())
                    .extracting(provider -> provider.getClass().getName())
                    .contains(GoodProvider.class.getName());
            assertThat(discovery.failures())
                    .extracting(failure -> failure.source() + ": " + failure.reason())
                    .anyMatch(text -> text.contains("MissingProvider") && text.contains("not found"))
                    .anyMatch(text ->
                            text.startsWith(StaticProvider.class.getName()) && text.contains("NumberFormatException"))
                    .anyMatch(text -> text.contains("the constructor failed"))
                    .anyMatch(text -> text.contains("OldProvider in ")
                            && text.contains("was built for level 0 of the SPI, this lock-api has level 1"))
                    .anyMatch(text -> text.contains("ProviderJars") && text.contains("not a subtype"));
        }
    }

    @Test
    void providerBesideBrokenOnesIsUsed() throws Exception {
        try (URLClassLoader loader = ProviderJars.loader(brokenJar())) {
            assertThatThrownBy(() -> Locks.open(GOOD, ClientOptions.defaults().withName("me"), loader))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("opened by GoodProvider as me");
        }
    }

    @Test
    void garbageInTheServicesFileHidesNoOtherJar() throws Exception {
        Path garbage = ProviderJars.write(dir.resolve("garbage.jar"), List.of(), "this is = no class", "\u0000");
        Path good =
                ProviderJars.write(dir.resolve("good.jar"), List.of(GoodProvider.class), GoodProvider.class.getName());
        try (URLClassLoader loader = ProviderJars.loader(garbage, good)) {
            Discovery discovery = Locks.discover(loader);

            assertThat(discovery.failures())
                    .anyMatch(failure -> failure.reason().contains("garbage.jar"));
            assertThat(discovery.providers())
                    .extracting(provider -> provider.getClass().getName())
                    .contains(GoodProvider.class.getName());
        }
    }

    @Test
    void contextClassLoaderIsTheDefault() throws Exception {
        Path jar =
                ProviderJars.write(dir.resolve("good.jar"), List.of(GoodProvider.class), GoodProvider.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = ProviderJars.loader(jar)) {
            thread.setContextClassLoader(loader);
            assertThatThrownBy(() -> Locks.open("lock:good://h?name=me")).hasMessage("opened by GoodProvider as me");
            thread.setContextClassLoader(null);
            assertThatThrownBy(() -> Locks.open("lock:good://h"))
                    .isInstanceOf(ProviderNotFoundException.class)
                    .hasMessageStartingWith("No provider takes lock:good://h. Found: ");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void twoProvidersOfOneSchemeNameBothJars() throws Exception {
        Path first =
                ProviderJars.write(dir.resolve("first.jar"), List.of(GoodProvider.class), GoodProvider.class.getName());
        Path second = ProviderJars.write(
                dir.resolve("second.jar"), List.of(TwinProvider.class), TwinProvider.class.getName());
        try (URLClassLoader loader = ProviderJars.loader(first, second)) {
            assertThatThrownBy(() -> Locks.open(GOOD, ClientOptions.defaults(), loader))
                    .isInstanceOf(ProviderNotFoundException.class)
                    .hasMessageContaining("More than one provider takes lock:good://u:***@h")
                    .hasMessageContaining("first.jar")
                    .hasMessageContaining("second.jar");
        }
    }

    @Test
    void oneProviderInTwoLoadersCountsOnce() throws Exception {
        Path jar = ProviderJars.write(
                dir.resolve("good.jar"),
                List.of(GoodProvider.class),
                GoodProvider.class.getName(),
                GoodProvider.class.getName());
        Path copy =
                ProviderJars.write(dir.resolve("copy.jar"), List.of(GoodProvider.class), GoodProvider.class.getName());
        try (URLClassLoader loader = ProviderJars.loader(jar, copy)) {
            assertThat(Locks.discover(loader).providers())
                    .filteredOn(provider -> provider.schemes().contains("good"))
                    .hasSize(1);
        }
    }

    @Test
    void noProviderSaysWhatWasFoundWhatFailedAndWhatToAdd() throws Exception {
        try (URLClassLoader loader = ProviderJars.loader(brokenJar())) {
            assertThatThrownBy(
                            () -> Locks.open(LockUrl.parse("lock:god://u:s3cr3t@h"), ClientOptions.defaults(), loader))
                    .isInstanceOf(ProviderNotFoundException.class)
                    .hasMessageContaining("No provider takes lock:god://u:***@h; did you mean lock:good?")
                    .hasMessageMatching("(?s).* Found: lock:[a-z, :-]*\\. Failed to load: .*")
                    .hasMessageContaining("broken.jar")
                    .hasMessageContaining("Failed to load: ")
                    .hasMessageContaining("MissingProvider")
                    .hasMessageContaining("Add a provider of lock:god to the class path")
                    .hasMessageNotContaining("s3cr3t")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSizeGreaterThanOrEqualTo(4));
        }
    }

    @Test
    void optionsAndRequirementsAreCheckedBeforeOpening() throws Exception {
        Path jar =
                ProviderJars.write(dir.resolve("good.jar"), List.of(GoodProvider.class), GoodProvider.class.getName());
        try (URLClassLoader loader = ProviderJars.loader(jar)) {
            assertThatThrownBy(() -> open("lock:good://h?tabel=x", ClientOptions.defaults(), loader))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("did you mean table?");
            assertThatThrownBy(() ->
                            open("lock:good://h", ClientOptions.defaults().with(Option.text("tabel"), "x"), loader))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("did you mean table?");
            assertThatThrownBy(() -> open("lock:good://h?require=fencing,caching", ClientOptions.defaults(), loader))
                    .isInstanceOf(UnsupportedFeatureException.class)
                    .hasMessageContaining("lock:good://h")
                    .hasMessageContaining("asks for: caching.");
            assertThatThrownBy(() -> open(
                            "lock:good://h?require=fencing",
                            ClientOptions.defaults().with(CommonOptions.REQUIRE, Requirements.parse("list")),
                            loader))
                    .isInstanceOf(UnsupportedFeatureException.class)
                    .hasMessageContaining("asks for: list.");
            assertThatThrownBy(() -> open(
                            "lock:good://h?require=fencing,fifo&table=x&name=me", ClientOptions.defaults(), loader))
                    .hasMessage("opened by GoodProvider as me");
        }
    }

    @Test
    void missingPromiseClosesTheClientAgain() throws Exception {
        Path jar =
                ProviderJars.write(dir.resolve("open.jar"), List.of(OpenProvider.class), OpenProvider.class.getName());
        int[] closed = {0};
        ClientOptions options =
                ClientOptions.defaults().with(Option.object("onClose", Runnable.class), () -> closed[0]++);
        try (URLClassLoader loader = ProviderJars.loader(jar)) {
            assertThatThrownBy(() -> open("lock:open://h?require=tokens:always", options, loader))
                    .isInstanceOf(UnsupportedFeatureException.class)
                    .hasMessageContaining("tokens:always (it promises tokens:timed, with an epoch file)");
            assertThat(closed[0]).isEqualTo(1);

            LockClient client = open("lock:open://h?require=tokens:timed", options, loader);
            assertThat(closed[0]).isEqualTo(1);
            assertThat(client.url()).isEqualTo(LockUrl.parse("lock:open://h?require=tokens:timed"));
        }
    }

    private static LockClient open(String url, ClientOptions options, ClassLoader loader) {
        return Locks.open(LockUrl.parse(url), options, loader);
    }
}
