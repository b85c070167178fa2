// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a process writes down about its locks: one line an event, handed to the system at once, so that kill -9 loses
 * none. {@link JournalReader} reads it. Safe for several threads.
 */
final class Journal implements AutoCloseable {
    private final Writer out;
    private long next = 1;

    Journal(Path file) throws IOException {
        this.out = Files.newBufferedWriter(file, StandardCharsets.UTF_8);
    }

    /** Before a lock is asked for. Returns the number of the request. */
    long asked(String name, LockMode mode) {
        return asked(name, mode, 1, 1);
    }

    /** Before so many permits are asked for, of so many that there are. Returns the number of the request. */
    long asked(String name, LockMode mode, int permits, int capacity) {
        long id;
        synchronized (this) {
            id = next++;
        }
        write("asked " + id + " " + name + " " + mode + " " + MachineClock.now() + " " + permits + " " + capacity);
        return id;
    }

    void granted(long id, long token, Duration ttl) {
        write("granted " + id + " " + token + " " + ttl.toNanos() + " " + MachineClock.now());
    }

    /** Not granted: in time, or for that reason. */
    void refused(long id, String reason) {
        write("refused " + id + " " + reason.replace('\n', ' '));
    }

    void answered(long id, HeldAnswer answer) {
        write((answer.held() ? "held " : "gone ") + id + " " + answer.before() + " " + answer.after() + " "
                + answer.remaining());
    }

    void lost(long id, LeaseLoss loss) {
        write("lost " + id + " " + loss.cause() + " " + MachineClock.now());
    }

    void untold(long id) {
        write("untold " + id);
    }

    /** Before a release is called. */
    void releasing(long id) {
        releasing(id, MachineClock.now());
    }

    /** It was the user's until then, and then the user's in another mode. */
    void releasing(long id, long at) {
        write("releasing " + id + " " + at);
    }

    void released(long id, ReleaseOutcome outcome) {
        write("released " + id + " " + outcome);
    }

    private synchronized void write(String line) {
        try {
            out.write(line + "\n");
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}
