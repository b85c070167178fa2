// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.picture;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** A run as a space-time diagram: one page that needs no network. */
public final class SpaceTimePage {
    private static final String TEMPLATE = "space-time.html";
    private static final String PLACE = "/*RUN*/";

    private SpaceTimePage() {}

    /** HTML, to be written as UTF-8. */
    public static String of(Run run) {
        String template = template();
        int at = template.indexOf(PLACE);
        return template.substring(0, at) + RunJson.of(run) + template.substring(at + PLACE.length());
    }

    private static String template() {
        try (InputStream in = SpaceTimePage.class.getResourceAsStream(TEMPLATE)) {
            if (in == null) {
                throw new IllegalStateException(TEMPLATE + " is missing beside " + SpaceTimePage.class);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(TEMPLATE + " cannot be read", e);
        }
    }
}
