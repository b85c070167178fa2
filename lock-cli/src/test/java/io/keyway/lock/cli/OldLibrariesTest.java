// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A class path on which another library stands than a provider was built with, as an application's may be. */
class OldLibrariesTest {
    @TempDir
    Path directory;

    @Test
    void aJedisThatIsTooOldIsNamedWithItsFile() throws Exception {
        Path old = jar("jedis", "Bundle-Version", "4.4.8", "redis/clients/jedis/Connection.class");

        assertThat(opening("lock:redis://localhost", "jedis-", old))
                .hasMessage("lock:redis://localhost needs Jedis 5.1 or later; found 4.4.8 in " + old
                        + ". Raise it in the dependency management of the application.");
    }

    @Test
    void aNettyThatIsTooOldIsNamedWithItsFile() throws Exception {
        Path old = jar(
                "netty",
                "Implementation-Version",
                "4.1.65.Final",
                "io/netty/channel/socket/nio/NioSocketChannel.class");

        assertThat(opening("lock:native:local://" + directory, "netty-", old))
                .hasMessageEndingWith("needs Netty 4.1.110 or later; found 4.1.65.Final in " + old
                        + ". Raise it in the dependency management of the application.");
        assertThat(opening("lock:native://a:7400/c", "netty-", old)).hasMessageContaining("needs Netty");
    }

    @Test
    void aLibraryThatIsMissingIsNamed() throws Exception {
        assertThat(opening("lock:redis://localhost", "jedis-"))
                .hasMessage("lock:redis://localhost needs Jedis 5.1 or later; there is none on the class path."
                        + " Add it to the build of the application.");
    }

    @Test
    void locksOfOneJvmNeedNoNetty() throws Exception {
        assertThat(opening("lock:native:mem://w", "netty-")).isNull();
    }

    /**
     * What opening that URL throws, null if nothing, in an application with other jars in place of those that begin so.
     */
    private static Throwable opening(String url, String replaced, Path... by) throws Exception {
        List<URL> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!Path.of(entry).getFileName().toString().startsWith(replaced)) {
                jars.add(Path.of(entry).toUri().toURL());
            }
        }
        for (Path each : by) {
            jars.add(each.toUri().toURL());
        }
        ClassLoader mine = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader application =
                new URLClassLoader(jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(application);
            Method open = application.loadClass("io.keyway.lock.Locks").getMethod("open", String.class);
            Throwable thrown = catchThrowable(() -> ((AutoCloseable) open.invoke(null, url)).close());
            return thrown instanceof InvocationTargetException wrapped ? wrapped.getCause() : thrown;
        } finally {
            Thread.currentThread().setContextClassLoader(mine);
        }
    }

    private Path jar(String name, String versionName, String version, String entry) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue(versionName, version);
        Path jar = directory.resolve(name + "-old.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new ZipEntry(entry));
        }
        return jar;
    }
}
