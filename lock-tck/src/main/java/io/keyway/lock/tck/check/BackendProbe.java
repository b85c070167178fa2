// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * The backend of a client, asked without the kit's engine before it: what an engine asks only after a lost reply, a
 * check can ask when it likes. Its requests have ids that the client itself does not come to.
 */
public final class BackendProbe {
    private static final long FIRST_ID = 1L << 40;
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final CheckClients context;
    private final LockBackend backend;
    private final Owner owner;
    private long ids = FIRST_ID;

    private BackendProbe(CheckClients context, LockBackend backend, String role) {
        this.context = context;
        this.backend = backend;
        this.owner = new Owner("tck-" + role, Map.of());
    }

    /**
     * Of that client, which has been connected when it returns; gives the check up if its provider is built in another
     * way.
     */
    static BackendProbe of(CheckClients context, LockClient client, String role) throws InterruptedException {
        LockBackend backend;
        try {
            backend = client.unwrap(LockBackend.class);
        } catch (IllegalArgumentException e) {
            throw context.skipped(Verdict.NOT_APPLICABLE, "the provider is not built over LockBackend");
        }
        client.lock(context.freshName()).acquire().close();
        return new BackendProbe(context, backend, role);
    }

    /** The store of rows over which the backend is built; empty if it is not built so. */
    public Optional<RowStore> rows() {
        return backend.unwrap(RowStore.class);
    }

    /** Whether it says of a call of this thread that an interrupt ends it. */
    public boolean isPrompt() {
        return backend.prompt();
    }

    /** A new request for that lock that waits in the queue. */
    public Request request(String name, Duration ttl) {
        return request(name, LockMode.EXCLUSIVE, ttl);
    }

    /** A new request for that lock, to read or to write, that waits in the queue. */
    public Request request(String name, LockMode mode, Duration ttl) {
        return new Request(++ids, context.key(name), mode, 1, 1, ttl, true, owner);
    }

    /** A new request for that lock that is to be held at least for that time; for a provider with HOLD_AT_LEAST. */
    public Request heldAtLeast(String name, Duration ttl, Duration holdAtLeast) {
        return new Request(++ids, context.key(name), LockMode.EXCLUSIVE, 1, 1, ttl, true, owner, holdAtLeast);
    }

    /** A new request for permits of that semaphore that waits in the queue. */
    public Request permits(String name, int permits, int capacity, Duration ttl) {
        LockKey key = LockKey.semaphore(LockName.of(name));
        return new Request(++ids, key, LockMode.PERMITS, permits, capacity, ttl, true, owner);
    }

    /** The same request, whose caller sees another capacity by now. */
    public static Request stating(int capacity, Request request) {
        return new Request(
                request.id(),
                request.key(),
                request.mode(),
                request.permits(),
                capacity,
                request.ttl(),
                request.queue(),
                request.owner(),
                request.holdAtLeast(),
                request.perResource(),
                request.quiet());
    }

    /** A new request for that lock that does not wait. */
    public Request passing(LockKey key, Duration ttl) {
        return new Request(++ids, key, LockMode.EXCLUSIVE, 1, 1, ttl, false, owner);
    }

    /** One attempt. */
    public Attempt attempt(Request request) throws Exception {
        return backend.attempt(request, LIMIT);
    }

    /** One attempt, with that limit. */
    public Attempt attempt(Request request, Duration limit) throws Exception {
        return backend.attempt(request, limit);
    }

    /**
     * One attempt that must be granted; {@code otherwise} says what it means that it is not. One that was not executed
     * is none: a client that is new, or has to connect anew, may need longer than an attempt may take.
     */
    public Grant granted(Request request, String otherwise) throws Exception {
        Attempt result = executed(request);
        if (result instanceof Attempt.Granted granted) {
            return granted.grant();
        }
        throw context.failure(otherwise + ": an attempt came to " + result);
    }

    /** A new grant of that lock, which is free. */
    public Grant take(String name, Duration ttl) throws Exception {
        return take(name, LockMode.EXCLUSIVE, ttl);
    }

    /** A new grant of that lock, which is free for that mode. */
    public Grant take(String name, LockMode mode, Duration ttl) throws Exception {
        return granted(request(name, mode, ttl), "a free lock was not granted");
    }

    private Attempt executed(Request request) throws Exception {
        try {
            return attempt(request);
        } catch (NotExecutedException first) {
            List<Attempt> results = new ArrayList<>();
            context.happens(context.patience(), () -> {
                try {
                    results.add(attempt(request));
                } catch (NotExecutedException again) {
                    // As the first.
                }
                return !results.isEmpty();
            });
            if (results.isEmpty()) {
                throw first;
            }
            return results.get(0);
        }
    }

    /**
     * As {@link #granted}, for one that waits: some clients learn from the store by themselves, and a moment later, who
     * stands before it. It is not asked again once it is granted.
     */
    public Grant grantedInTime(Request request, String otherwise) throws Exception {
        List<Grant> grants = new ArrayList<>();
        boolean served = context.happens(context.patience(), () -> {
            try {
                if (attempt(request) instanceof Attempt.Granted granted) {
                    grants.add(granted.grant());
                }
            } catch (NotExecutedException e) {
                // Nothing came of it: the client has still to connect, perhaps.
            }
            return !grants.isEmpty();
        });
        context.expect(served, otherwise);
        return grants.get(0);
    }

    /** Whether the request is granted now; a refusal to execute it is a no. */
    public boolean isGranted(Request request) throws Exception {
        try {
            return attempt(request) instanceof Attempt.Granted;
        } catch (NotExecutedException e) {
            return false;
        }
    }

    /** One attempt to change the mode of a grant, for a provider with UPGRADE. */
    public Attempt convert(Grant held, Request wanted) throws Exception {
        return backend.convert(held, wanted, LIMIT);
    }

    /** Renews these grants in one call; one answer for each. */
    public List<Answer> renew(List<Grant> grants) throws Exception {
        return backend.renew(grants, LIMIT);
    }

    /** How many permits are left of that capacity, for a provider with SEMAPHORE. */
    public int availablePermits(LockKey key, int capacity) throws Exception {
        return backend.availablePermits(key, capacity, LIMIT);
    }

    /** Breaks the grant, for a provider with BREAK. */
    public boolean breakGrant(Grant grant, String reason) throws Exception {
        return backend.breakGrant(grant.key(), grant.token(), reason, LIMIT);
    }

    /** Takes the request back. */
    public void withdraw(Request request) throws Exception {
        withdraw(request, LIMIT);
    }

    /** Takes the request back, with that limit. */
    public void withdraw(Request request, Duration limit) throws Exception {
        backend.withdraw(request, limit);
    }

    /** Takes the request back over a link that has just been mended, whose connections may still be broken. */
    public void withdrawInTime(Request request) throws InterruptedException {
        context.until(
                "a withdrawal is answered over a link that is whole",
                () -> isAnswered(() -> {
                    withdraw(request);
                    return true;
                }));
    }

    /** Whether the call returns. */
    public boolean isAnswered(Callable<?> call) throws InterruptedException {
        try {
            call.call();
            return true;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            return false;
        }
    }

    /** Renews the grants by one call. */
    public List<Answer> renew(Grant... grants) throws Exception {
        return renew(LIMIT, grants);
    }

    /** Renews the grants by one call, with that limit. */
    public List<Answer> renew(Duration limit, Grant... grants) throws Exception {
        return backend.renew(List.of(grants), limit);
    }

    /** Gives the grant back, and leaves its place for what is left of the time that it was to be held at least. */
    public Answer keep(Grant grant) throws Exception {
        return backend.keep(grant, LIMIT);
    }

    /** Gives the grant back. */
    public Answer release(Grant grant) throws Exception {
        return release(grant, LIMIT);
    }

    /** Gives the grant back, with that limit. */
    public Answer release(Grant grant, Duration limit) throws Exception {
        return backend.release(grant, limit);
    }
}
