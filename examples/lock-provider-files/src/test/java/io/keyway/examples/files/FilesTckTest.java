// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The compatibility kit. */
class FilesTckTest {

    @TempDir
    Path directory;

    @Test
    void isCompatible() throws Exception {
        TckResult result = TckRunner.run(TckSubject.of("lock:files://" + directory), TckConfig.of(Profile.SMOKE));
        assertThat(result.outcome())
                .as("%s %s", result.trouble(), result.with(Verdict.FAIL))
                .isEqualTo(TckResult.Outcome.COMPATIBLE);
    }
}
