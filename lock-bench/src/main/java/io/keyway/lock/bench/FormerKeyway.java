// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * Keyway as other jars have it: what it is compared with when the question is whether a change made it slower. All of
 * it comes from those jars, the drivers too; it shares the JVM and the interface {@link Contender} with the rest.
 */
final class FormerKeyway extends ClassLoader {
    private final String name;
    private final URLClassLoader jars;

    private FormerKeyway(String name, URLClassLoader jars) {
        super(jars);
        this.name = name;
        this.jars = jars;
    }

    /**
     * Returns what opens clients of those jars.
     *
     * @param name in the table
     * @param classPath jars, and folders of jars or of classes, joined as in a class path
     */
    static FormerKeyway of(String name, String classPath) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String element : classPath.split(File.pathSeparator, -1)) {
            File[] inside = new File(element).listFiles((folder, file) -> file.endsWith(".jar"));
            for (File each : inside == null || inside.length == 0 ? new File[] {new File(element)} : inside) {
                urls.add(each.toURI().toURL());
            }
        }
        ClassLoader platform = ClassLoader.getPlatformClassLoader();
        return new FormerKeyway(name, new URLClassLoader(urls.toArray(new URL[0]), platform));
    }

    /** Opens a client at that URL. */
    Contender open(String url) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(jars);
        try {
            Contender contender = (Contender) loadClass(KeywayContender.class.getName())
                    .getConstructor(String.class)
                    .newInstance(url);
            return new Named(name, contender);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Override
    protected Class<?> loadClass(String type, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(type)) {
            if (!type.startsWith(FormerKeyway.class.getPackageName() + ".")) {
                return super.loadClass(type, resolve);
            }
            if (!type.startsWith(KeywayContender.class.getName())) {
                return Class.forName(type, false, FormerKeyway.class.getClassLoader());
            }
            Class<?> loaded = findLoadedClass(type);
            return loaded == null ? define(type) : loaded;
        }
    }

    private Class<?> define(String type) throws ClassNotFoundException {
        try (InputStream in = FormerKeyway.class.getResourceAsStream(type.replaceFirst(".*\\.", "") + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(type);
            }
            byte[] bytes = in.readAllBytes();
            return defineClass(type, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(type, e);
        }
    }

    private record Named(String name, Contender contender) implements Contender {
        @Override
        public Hold take(String lock) throws Exception {
            return contender.take(lock);
        }

        @Override
        public void close() {
            contender.close();
        }
    }
}
