// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.fixture.GoodProvider;
import io.keyway.lock.spi.LockProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** Jars with providers, and a class loader that finds their classes there and not on the class path of the tests. */
final class ProviderJars {
    private static final String FIXTURES = GoodProvider.class.getPackageName() + ".";

    private ProviderJars() {}

    /** Writes a jar with all fixture classes given and a services file with those lines. */
    static Path write(Path jar, List<Class<?>> classes, String... services) {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (Class<?> type : classes) {
                add(out, type);
            }
            add(
                    out,
                    classes.isEmpty()
                            ? GoodProvider.class.getSuperclass()
                            : classes.get(0).getSuperclass());
            out.putNextEntry(new JarEntry("META-INF/services/" + LockProvider.class.getName()));
            out.write(String.join("\n", services).getBytes(StandardCharsets.UTF_8));
            out.closeEntry();
            return jar;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void add(JarOutputStream out, Class<?> type) throws IOException {
        String entry = type.getName().replace('.', '/') + ".class";
        out.putNextEntry(new JarEntry(entry));
        try (InputStream in = type.getClassLoader().getResourceAsStream(entry)) {
            in.transferTo(out);
        }
        out.closeEntry();
    }

    static URLClassLoader loader(Path... jars) {
        URL[] urls = Arrays.stream(jars).map(ProviderJars::url).toArray(URL[]::new);
        return new URLClassLoader(urls, ProviderJars.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith(FIXTURES)) {
                    return super.loadClass(name, resolve);
                }
                synchronized (getClassLoadingLock(name)) {
                    Class<?> loaded = findLoadedClass(name);
                    return loaded != null ? loaded : findClass(name);
                }
            }
        };
    }

    private static URL url(Path path) {
        try {
            return path.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
