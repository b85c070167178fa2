// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.TckSubject.Control;
import io.keyway.lock.tck.Verdict;
import java.util.Optional;

/** The subject's server in the hands of one check, which is {@code alone}. What the check leaves undone is done at its end. */
public final class Server {
    private final TckSubject subject;
    private volatile boolean hurt;
    private volatile boolean down;
    private volatile boolean stopped;

    Server(TckSubject subject) {
        this.subject = subject;
    }

    /** Ends it as a crash would; for checks with {@link Means#SERVER}. */
    public void kill() throws InterruptedException {
        hurt = true;
        down = true;
        use(subject.kill(), "killed");
    }

    /** Starts it again. */
    public void restart() throws InterruptedException {
        down = false;
        use(subject.restart(), "started again");
    }

    /** Stops it, as by SIGSTOP; for checks with {@link Means#PAUSE}. */
    public void pause() throws InterruptedException {
        hurt = true;
        stopped = true;
        use(subject.pause(), "stopped");
    }

    /** Lets it go on. */
    public void resume() throws InterruptedException {
        stopped = false;
        use(subject.resume(), "continued");
    }

    /** Says that the check could not be tried if the control fails: the provider is not to blame. */
    private static void use(Optional<Control> control, String what) throws InterruptedException {
        try {
            control.orElseThrow().run();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new NotTried(Verdict.INCONCLUSIVE, "the server could not be " + what + ": " + e);
        }
    }

    /** Undoes what is left; returns whether it was killed or stopped at all. */
    boolean mended() {
        try {
            if (stopped) {
                resume();
            }
            if (down) {
                restart();
            }
        } catch (NotTried e) {
            // The checks to come will say that it does not answer.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return hurt;
    }
}
