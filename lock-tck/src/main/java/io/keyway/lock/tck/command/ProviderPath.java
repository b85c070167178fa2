// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Where a provider's classes are: jars, folders of jars, folders of classes, joined as in a class path. */
final class ProviderPath {
    private ProviderPath() {}

    /**
     * Returns what a class path has to have.
     *
     * @throws IllegalArgumentException if something is not there, or nothing is in it
     */
    static List<Path> parse(String text) {
        List<Path> entries = new ArrayList<>();
        for (String part : text.split(File.pathSeparator, -1)) {
            if (!part.isBlank()) {
                add(Path.of(part), entries);
            }
        }
        if (entries.isEmpty()) {
            throw new IllegalArgumentException(
                    "the provider path is empty; name a jar, or a folder with the provider's jars");
        }
        return entries;
    }

    private static void add(Path part, List<Path> entries) {
        if (Files.isRegularFile(part)) {
            entries.add(part);
            return;
        }
        if (!Files.isDirectory(part)) {
            throw new IllegalArgumentException("there is no file or folder " + part + " (absolute: "
                    + part.toAbsolutePath().normalize() + "), which the provider path names");
        }
        List<Path> jars = jars(part);
        if (!jars.isEmpty()) {
            entries.addAll(jars);
        } else if (Files.isDirectory(part.resolve("META-INF"))) {
            entries.add(part);
        } else {
            throw new IllegalArgumentException("the folder " + part
                    + ", which the provider path names, has neither jars nor META-INF/services; is the "
                    + "provider built?");
        }
    }

    private static List<Path> jars(Path folder) {
        List<Path> jars = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jar")) {
            files.forEach(jars::add);
        } catch (IOException e) {
            throw new IllegalArgumentException("the folder " + folder + " cannot be read: " + e, e);
        }
        jars.sort(null);
        return jars;
    }
}
