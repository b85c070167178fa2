// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.TckSubject.Control;
import io.keyway.lock.tck.Verdict;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The subject's server in the hands of one check, which is {@code alone}. What the check leaves undone is done at its
 * end.
 */
public final class Server {
    private final TckSubject subject;
    private final LockUrl url;
    /** Whether this check or one before it in the run has killed it. */
    private final AtomicBoolean killed;

    private volatile boolean hurt;
    private volatile boolean down;
    private volatile boolean stopped;

    Server(TckSubject subject, LockUrl url, AtomicBoolean killed) {
        this.subject = subject;
        this.url = url;
        this.killed = killed;
    }

    /** Ends it as a crash would; for checks with {@link Requirement#SERVER}. */
    public void kill() throws InterruptedException {
        hurt = true;
        killed.set(true);
        down = true;
        use(subject.kill(), "killed");
    }

    /** Starts it again. */
    public void restart() throws InterruptedException {
        down = false;
        use(subject.restart(), "started again");
    }

    /** Stops it, as by SIGSTOP; for checks with {@link Requirement#PAUSE}. */
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
            throw new Skipped(Verdict.INCONCLUSIVE, "the server could not be " + what + ": " + e);
        }
    }

    /**
     * Who should listen, by the URL and by what the subject says, and does not though it was started again, by this
     * check or one before it: then no check can say anything of the provider. Empty if one of them does, or if it is
     * not known where.
     */
    Optional<String> missing() {
        List<String> all = new ArrayList<>(subject.servers());
        for (LockUrl.Host host : url.isOpaque() ? List.<LockUrl.Host>of() : url.hosts()) {
            host.port().ifPresent(port -> all.add(host.name() + ":" + port));
        }
        boolean gone = killed.get() && !down && !all.isEmpty() && all.stream().noneMatch(Server::listens);
        return gone
                ? Optional.of("the server was killed and started again, and nobody listens at " + String.join(", ", all)
                        + ": look at what starts it (--start-command, TckSubject.withServer) and what that printed; "
                        + "it must not"
                        + " begin while the old process still has the port, and not end before the new one has it")
                : Optional.empty();
    }

    private static boolean listens(String server) {
        int colon = server.lastIndexOf(':');
        InetSocketAddress address =
                new InetSocketAddress(server.substring(0, colon), Integer.parseInt(server.substring(colon + 1)));
        try (Socket socket = new Socket()) {
            socket.connect(address, 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether a check killed or stopped it. */
    boolean isHurt() {
        return hurt;
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
        } catch (Skipped e) {
            // The checks to come will say that it does not answer.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return hurt;
    }
}
