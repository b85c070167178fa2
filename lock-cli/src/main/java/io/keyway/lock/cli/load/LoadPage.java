// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A load as one HTML page, with its data inside. */
public final class LoadPage {
    private LoadPage() {}

    /** One file that needs nothing else. */
    public static String of(LoadResult result) {
        try (InputStream in = LoadPage.class.getResourceAsStream("load.html")) {
            String page = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            return page.replace(
                    "/*DATA*/null",
                    "{\"result\":" + LoadJson.of(result) + ",\"drawn\":" + LoadJson.drawn(result.record()) + "}");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
