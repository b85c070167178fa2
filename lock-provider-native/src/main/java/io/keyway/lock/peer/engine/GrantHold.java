// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.LockEngine.Sink;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What the leases of one grant stand on. The end of each goes to the cell that has the grant: meanwhile the name may be
 * another member's.
 */
final class GrantHold implements LockEngine.Hold, HeldByName.Grants, OpenReleases.Released {
    /** A future, and no mere stage: whoever asks for its answer gets this one. */
    private static final CompletionStage<Answer> DONE = CompletableFuture.completedFuture(Answer.DONE);

    private static final VarHandle TOLD;

    static {
        try {
            TOLD = MethodHandles.lookup().findVarHandle(GrantHold.class, "told", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final GrantHandle handle;
    private final ClientCell origin;
    private final TimeSource time;
    private final OpenReleases releases;
    private final Duration ttl;

    /** The last token whose use was told, by whichever thread; a use that is not told yet is public already. */
    private volatile long told;

    /** The token that was in use when this grant changed its mode and became another one; 0 if it did not. */
    private volatile long converted;

    GrantHold(GrantHandle handle, ClientCell origin, TimeSource time, OpenReleases releases) {
        this.handle = handle;
        this.origin = origin;
        this.time = time;
        this.releases = releases;
        this.ttl = Duration.ofNanos(handle.ttl());
    }

    @Override
    public boolean take(LockMode mode, int permits, int capacity, long ttl, Owner owner, Sink sink, long now) {
        long token = handle.tryReuse(mode, permits, capacity, ttl, owner, sink, now);
        if (token == 0) {
            return false;
        }
        try {
            sink.granted(this, token);
        } finally {
            wasTold(token);
        }
        return true;
    }

    /** The sink of that use knows of it. */
    void wasTold(long token) {
        // Whoever looks too early looks again, so that no fence is needed.
        TOLD.setRelease(this, token);
    }

    /** Whether the sink of that use knows of it, and may be told more. */
    boolean isTold(long token) {
        return told >= token;
    }

    /** Whether that is one of its tokens. */
    boolean covers(long token) {
        return handle.covers(token);
    }

    @Override
    public @Nullable GrantHold on(GrantHandle other) {
        return handle == other ? this : null;
    }

    @Override
    public GrantHold[] all() {
        return new GrantHold[] {this};
    }

    /** What was in use with that token has become another grant: whoever releases it ends that one. */
    void becameAnother(long token) {
        converted = token;
    }

    @Override
    public boolean hasBecomeAnother(long token) {
        return converted == token;
    }

    @Override
    public void post(LockCall call) {
        origin.post(new Input.Command(handle.key(), call));
    }

    @Override
    public Key key() {
        return handle.key();
    }

    GrantHandle handle() {
        return handle;
    }

    @Override
    public Duration ttl() {
        return ttl;
    }

    @Override
    public long deadlineNanos() {
        return handle.deadline();
    }

    @Override
    public CompletionStage<Answer> release(long token) {
        return handle.tryRelease(token, time.nanoTime()) ? DONE : releases.send(this, token, false);
    }

    @Override
    public CompletionStage<Answer> abandon(long token) {
        return handle.tryRelease(token, time.nanoTime()) ? DONE : releases.send(this, token, true);
    }

    @Override
    public void lapsed(long token) {
        post(new LockCall.Lapse(token));
    }

    @Override
    public Optional<String> server() {
        return Optional.of(origin.server());
    }

    @Override
    public OptionalInt permitsOut() {
        return handle.out() == 0 ? OptionalInt.empty() : OptionalInt.of(handle.out());
    }
}
