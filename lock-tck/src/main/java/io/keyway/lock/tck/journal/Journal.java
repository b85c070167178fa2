// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

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
 * none. {@link JournalLines} reads it. All instants are {@link MachineClock}'s, in nanoseconds. Safe for several
 * threads. When it cannot be written, each method throws {@link UncheckedIOException}.
 */
public final class Journal implements AutoCloseable {
    private final Writer out;
    private long next = 1;

    /** In that file, which is made. */
    public Journal(Path file) throws IOException {
        this(Files.newBufferedWriter(file, StandardCharsets.UTF_8));
    }

    /** To that writer; closing the journal closes it. */
    public Journal(Writer out) {
        this.out = out;
    }

    /** Before a lock is asked for. Returns the number of the request. */
    public long asked(String name, LockMode mode) {
        return asked(name, mode, 1, 1, 0);
    }

    /**
     * Before a lock is asked for by a transaction of that number, 1 or more, which the process gives no other one.
     * Returns the number of the request.
     */
    public long asked(String name, LockMode mode, long transaction) {
        return asked(name, mode, 1, 1, transaction);
    }

    /** Before so many permits are asked for, of so many that there are. Returns the number of the request. */
    public long asked(String name, LockMode mode, int permits, int capacity) {
        return asked(name, mode, permits, capacity, 0);
    }

    private long asked(String name, LockMode mode, int permits, int capacity, long transaction) {
        long id;
        synchronized (this) {
            id = next++;
        }
        write("asked " + id + " " + name + " " + mode + " " + MachineClock.now() + " " + permits + " " + capacity
                + (transaction == 0 ? "" : " " + transaction));
        return id;
    }

    /** The user has the lease in hand. */
    public void granted(long id, long token, Duration ttl) {
        write("granted " + id + " " + token + " " + ttl.toNanos() + " " + MachineClock.now());
    }

    /** Not granted: in time, or for that reason. */
    public void refused(long id, String reason) {
        write("refused " + id + " " + MachineClock.now() + " " + reason.replace('\n', ' '));
    }

    /** What the lease answered when it was asked whether it is held. */
    public void answered(long id, HeldAnswer answer) {
        write((answer.held() ? "held " : "gone ") + id + " " + answer.before() + " " + answer.after() + " "
                + answer.remaining());
    }

    /** The user is told of the loss. */
    public void lost(long id, LeaseLoss loss) {
        write("lost " + id + " " + loss.cause() + " " + MachineClock.now());
    }

    /** The user waited long for the news of a loss, and none came. */
    public void untold(long id) {
        write("untold " + id);
    }

    /** Before a release is called. */
    public void releasing(long id) {
        releasing(id, MachineClock.now());
    }

    /** It was the user's until then, and then the user's in another mode. */
    public void releasing(long id, long at) {
        write("releasing " + id + " " + at);
    }

    /** What the release returned, just now. */
    public void released(long id, ReleaseOutcome outcome) {
        write("released " + id + " " + outcome + " " + MachineClock.now());
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
