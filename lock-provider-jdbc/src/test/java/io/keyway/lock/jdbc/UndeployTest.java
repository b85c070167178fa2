// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Signals;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An application that is undeployed is gone: nothing of the JVM keeps its class loader. */
class UndeployTest {

    /** In a JVM of its own, whose threads for delays nobody has started yet. */
    @Test
    @Tag("soak")
    void theClassLoaderOfAnApplicationIsFreeAfterItsClientIsClosed() throws Exception {
        String url = PostgresServer.shared().url("undeploy");
        try (ChildProcess container = ChildProcess.start(new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Container.class.getName(),
                url))) {
            container.process().waitFor();
            assertThat(container.out()).as(container::err).contains("the class loader is gone");
        }
    }

    /** Loads an application by a class loader of its own, runs it, and drops it. */
    static final class Container {
        public static void main(String[] arguments) throws Exception {
            WeakReference<ClassLoader> loader = deployed(arguments[0]);
            try {
                Signals.until("the class loader is gone", () -> {
                    System.gc();
                    return loader.get() == null;
                });
                System.out.println("the class loader is gone");
            } catch (AssertionError e) {
                String threads = Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getContextClassLoader() == loader.get())
                        .map(Thread::getName)
                        .collect(Collectors.joining(", "));
                System.out.println("it is kept, perhaps by " + threads);
            }
        }

        private static WeakReference<ClassLoader> deployed(String url) throws Exception {
            List<URL> places = new ArrayList<>();
            for (String place : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                places.add(Path.of(place).toUri().toURL());
            }
            URLClassLoader loader =
                    new URLClassLoader(places.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
            Thread thread = new Thread(() -> {
                try {
                    loader.loadClass(Application.class.getName())
                            .getMethod("run", String.class)
                            .invoke(null, url);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.setContextClassLoader(loader);
            thread.start();
            thread.join();
            loader.close();
            return new WeakReference<>(loader);
        }
    }

    /** What is deployed. */
    public static final class Application {
        private Application() {}

        /** Takes locks, and takes its drivers out, as a container does. */
        public static void run(String url) throws Exception {
            try (LockClient client = Locks.open(url);
                    LockClient other = Locks.open(url);
                    Lease lease = client.lock("deployed").acquire()) {
                other.lock("connected").acquire().close();
                lease.ensureHeld();
            }
            for (Driver driver : DriverManager.drivers().toList()) {
                DriverManager.deregisterDriver(driver);
            }
        }
    }
}
