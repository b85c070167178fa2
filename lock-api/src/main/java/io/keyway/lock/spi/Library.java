// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockUrl;
import io.keyway.lock.ProviderNotFoundException;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A library that a provider stands on. An application's own dependency management may put another version on the class
 * path than the provider was built with; so a provider looks, when it opens a client, whether it is one that will do.
 *
 * @param name for people, such as {@code Jedis}
 * @param oldest for people, the oldest version that will do
 * @param witness the name of a class that this version and all later ones have, and older ones lack
 * @param mark the name of a class that all versions have, by which one that is too old is found
 */
public record Library(String name, String oldest, String witness, String mark) {

    /**
     * Checks for null.
     *
     * @param name see the record
     * @param oldest see the record
     * @param witness see the record
     * @param mark see the record
     */
    public Library {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(oldest, "oldest");
        Objects.requireNonNull(witness, "witness");
        Objects.requireNonNull(mark, "mark");
    }

    /**
     * Goes on if that class loader, which is that of the provider, finds a version that will do.
     *
     * @param url what is opened, for the message
     * @param loader the class loader of the provider
     * @throws ProviderNotFoundException if it finds none or one that is too old; the message says which, and where
     */
    public void require(LockUrl url, ClassLoader loader) {
        if (find(witness, loader) == null) {
            throw new ProviderNotFoundException(
                    url + " needs " + name + " " + oldest + " or later; " + found(loader), null);
        }
    }

    private String found(ClassLoader loader) {
        URL place = find(mark, loader);
        if (place == null) {
            return "there is none on the class path. Add it to the build of the application.";
        }
        String version = "one without a version";
        String file = place.toString();
        try {
            URLConnection connection = place.openConnection();
            connection.setUseCaches(false);
            if (connection instanceof JarURLConnection jar) {
                file = jar.getJarFileURL().getPath();
                version = version(jar.getManifest(), version);
            }
        } catch (IOException e) {
            // The place alone says enough.
        }
        return "found " + version + " in " + file + ". Raise it in the dependency management of the application.";
    }

    private static String version(@Nullable Manifest manifest, String otherwise) {
        if (manifest == null) {
            return otherwise;
        }
        Attributes main = manifest.getMainAttributes();
        String stated = main.getValue(Attributes.Name.IMPLEMENTATION_VERSION);
        String bundle = stated == null ? main.getValue("Bundle-Version") : stated;
        return bundle == null ? otherwise : bundle;
    }

    private static @Nullable URL find(String type, ClassLoader loader) {
        return loader.getResource(type.replace('.', '/') + ".class");
    }
}
