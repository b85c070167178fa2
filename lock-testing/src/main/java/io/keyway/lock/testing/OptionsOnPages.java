// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.Option;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compares a provider's options with the pages that speak of them. */
public final class OptionsOnPages {
    private OptionsOnPages() {}

    /**
     * Returns what is missing, empty if nothing is: a constant in the list of all, an option's description, and its
     * name on each page. An option that a URL cannot say has the name of its constant there. A row of a page's table
     * for one option alone has its default.
     *
     * @param constants the class that declares the options
     * @param all its list of them
     * @param pages names of files in the folder {@code docs}
     */
    public static List<String> missing(Class<?> constants, List<Option<?>> all, String... pages)
            throws IOException, IllegalAccessException {
        List<String> missing = new ArrayList<>();
        List<Field> fields = new ArrayList<>();
        for (Field field : constants.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == Option.class) {
                fields.add(field);
                if (!all.contains(field.get(null))) {
                    missing.add(field.getName() + " in the list of all options");
                }
            }
        }
        for (Option<?> option : all) {
            if (option.description().isEmpty()) {
                missing.add("the description of " + option.name());
            }
        }
        for (String name : pages) {
            String page = Files.readString(Path.of("..", "docs", name));
            for (Option<?> option : all) {
                String said = "`" + (option.inUrl() ? option.name() : constant(option, constants, fields)) + "`";
                if (!page.contains(said)) {
                    missing.add(said + " on " + name);
                }
                String row = "| " + said + " | ";
                String withDefault = row + "`" + option.defaultText() + "` |";
                if (!option.defaultText().isEmpty() && page.contains(row) && !page.contains(withDefault)) {
                    missing.add(withDefault + " on " + name);
                }
            }
        }
        return missing;
    }

    private static String constant(Option<?> option, Class<?> constants, List<Field> fields)
            throws IllegalAccessException {
        for (Field field : fields) {
            if (field.get(null) == option) {
                return constants.getSimpleName() + "." + field.getName();
            }
        }
        throw new IllegalArgumentException(constants + " declares no option " + option.name());
    }
}
