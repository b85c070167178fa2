// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PortsTest {
    private static final int DRAWS = 250;

    /** Tests run in several JVMs at once, and a port is not bound at each moment at which its test counts on it. */
    @Test
    void noPortIsGivenTwiceWhicheverJvmAsks() throws Exception {
        Set<Integer> given = new HashSet<>();
        try (URLClassLoader one = loader();
                URLClassLoader other = loader()) {
            Method ofOne = free(one);
            Method ofOther = free(other);
            for (int i = 0; i < DRAWS; i++) {
                assertThat(given.add((Integer) ofOne.invoke(null))).isTrue();
                assertThat(given.add((Integer) ofOther.invoke(null))).isTrue();
                assertThat(given.add(Ports.free())).isTrue();
            }
        }
        assertThat(given).allMatch(port -> port > 15_000 && port < 30_000);
    }

    /** A class of its own, as in a JVM of its own. */
    private static Method free(ClassLoader loader) throws Exception {
        return loader.loadClass(Ports.class.getName()).getMethod("free");
    }

    private static URLClassLoader loader() {
        URL classes = Ports.class.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
    }
}
