// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The compatibility kit, in profile smoke. */
class FilesTckTest extends LockTck {

    @TempDir
    Path directory;

    @Override
    protected TckSubject subject() {
        return TckSubject.of("lock:files://" + directory);
    }
}
