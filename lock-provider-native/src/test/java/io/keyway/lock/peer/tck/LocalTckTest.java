// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The kit on this machine's locks: the host is whoever of its clients was first, and moves as they come and go. */
class LocalTckTest extends LockTck {
    @TempDir
    private Path directory;

    @Override
    protected TckSubject subject() {
        return TckSubject.of("lock:native:local://" + directory.resolve("locks"));
    }
}
