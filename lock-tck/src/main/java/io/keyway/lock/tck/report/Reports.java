// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes all that there is to say of a run into a directory: {@code report.html}, {@code junit.xml}, {@code
 * compatibility.json}, {@code compatibility.md}, and the histories of failed checks in {@code histories/}.
 */
public final class Reports {
    private Reports() {}

    /**
     * Writes the files, over those of an earlier run.
     *
     * @param directory made if it is missing
     * @throws IOException if they cannot be written
     */
    public static void write(Path directory, TckResult result) throws IOException {
        Files.createDirectories(directory);
        List<Ruling> rulings = Ruling.of(result);
        Map<String, String> host = Summary.host();
        Compatibility compatibility = new Compatibility(result, rulings, host);
        Files.writeString(directory.resolve("compatibility.json"), compatibility.json());
        Files.writeString(directory.resolve("compatibility.md"), compatibility.markdown());
        Files.writeString(directory.resolve("junit.xml"), JUnitXml.of(result));
        Files.writeString(directory.resolve("report.html"), HtmlReport.of(result, rulings, host));
        Evidence.clear(directory);
        for (CheckResult check : result.checks()) {
            if (Evidence.exists(check)) {
                Evidence.write(directory, check);
            }
        }
    }
}
