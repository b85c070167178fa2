// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.IncompleteListingException;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Questions of an administrator, and the answers that come back to them by number. */
final class Admin {
    /** Above the numbers that the façade gives to requests for locks. */
    private static final long FIRST = 1L << 62;

    private final AtomicLong numbers = new AtomicLong(FIRST);
    private final Map<Long, CompletableFuture<LockMessage>> open = new ConcurrentHashMap<>();
    /** Of questions for names that were answered in part: the members that gave no answer, each with the reason. */
    private final Map<Long, List<String>> silent = new ConcurrentHashMap<>();

    private final int algorithm;
    private final BiConsumer<Key, LockCall> post;
    private final Supplier<String> server;
    private volatile boolean closed;

    Admin(int algorithm, BiConsumer<Key, LockCall> post, Supplier<String> server) {
        this.algorithm = algorithm;
        this.post = post;
        this.server = server;
    }

    /** A page of names, then the status of each; names that came to rest in between are left out. */
    CompletableFuture<LockPage> list(String prefix, String after, int max, Duration limit) {
        long number = numbers.incrementAndGet();
        return ask(
                        number,
                        LockKeys.directory(algorithm),
                        new LockCall.ListNames(number, prefix, after, max, limit.toNanos()))
                .thenCompose(answer -> {
                    LockMessage.Page page = (LockMessage.Page) answer;
                    List<CompletableFuture<Optional<LockStatus>>> each = new ArrayList<>();
                    List<String> missing = silent.remove(number);
                    // Those that were waited for in vain have used up half of the time.
                    Duration left = missing == null ? limit : limit.dividedBy(4);
                    for (String name : page.names()) {
                        each.add(show(name, left));
                    }
                    return CompletableFuture.allOf(each.toArray(new CompletableFuture<?>[0]))
                            .thenApply(all -> whole(page(page, each), missing));
                });
    }

    private LockPage whole(LockPage page, @Nullable List<String> missing) {
        if (missing != null) {
            throw new IncompleteListingException(page, missing, server.get());
        }
        return page;
    }

    private static LockPage page(LockMessage.Page page, List<CompletableFuture<Optional<LockStatus>>> each) {
        List<LockStatus> locks = new ArrayList<>();
        each.forEach(status -> status.join().ifPresent(locks::add));
        Optional<String> next =
                page.more() ? Optional.of(page.names().get(page.names().size() - 1)) : Optional.empty();
        return new LockPage(locks, next);
    }

    /** Empty if nobody holds the lock and nobody waits; an idle cache is no holder. */
    CompletableFuture<Optional<LockStatus>> show(String name, Duration limit) {
        long number = numbers.incrementAndGet();
        return ask(number, LockKeys.lock(algorithm, name), new LockCall.Show(number, limit.toNanos()))
                .thenApply(answer -> status(name, (LockMessage.Status) answer));
    }

    private static Optional<LockStatus> status(String name, LockMessage.Status status) {
        if (status.holders().isEmpty() && status.waiters().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new LockStatus(
                new LockKey(LockKey.Kind.LOCK, LockName.of(name)),
                status.holders().stream().map(Admin::holder).toList(),
                status.waiters().stream().map(Admin::waiter).toList()));
    }

    private static LockStatus.Holder holder(Participant party) {
        return new LockStatus.Holder(
                party.owner().client(),
                party.mode(),
                party.permits(),
                token(party),
                Duration.ofNanos(party.nanos()),
                party.owner().metadata(),
                party.kept() == 0 ? Optional.empty() : Optional.of(Duration.ofNanos(party.kept())));
    }

    private static LockStatus.Waiter waiter(Participant party) {
        return new LockStatus.Waiter(
                party.owner().client(),
                party.mode(),
                party.permits(),
                token(party),
                Duration.ofNanos(party.nanos()),
                party.owner().metadata());
    }

    private static OptionalLong token(Participant party) {
        return party.token() == 0 ? OptionalLong.empty() : OptionalLong.of(party.token());
    }

    CompletableFuture<Boolean> breakGrant(String name, long token, String reason, Duration limit) {
        long number = numbers.incrementAndGet();
        return ask(number, LockKeys.lock(algorithm, name), new LockCall.Break(number, token, reason, limit.toNanos()))
                .handle((answer, failure) -> {
                    if (failure != null) {
                        throw new OutcomeUnknownException(
                                "Breaking token " + token + " of " + name + " was not confirmed by " + server.get()
                                        + ": "
                                        + failure.getMessage()
                                        + ". The lock is free as soon as its holder has stopped. It names the token, "
                                        + "so it"
                                        + " is safe to send it again.",
                                LockName.of(name),
                                server.get(),
                                failure);
                    }
                    return ((LockMessage.Answer) answer).done();
                });
    }

    private CompletableFuture<LockMessage> ask(long number, Key key, LockCall call) {
        CompletableFuture<LockMessage> answer = new CompletableFuture<>();
        open.put(number, answer);
        try {
            post.accept(key, call);
        } catch (LockException e) {
            open.remove(number);
            answer.completeExceptionally(e);
        }
        if (closed) {
            answer.completeExceptionally(closedBefore());
        }
        return answer;
    }

    void told(LockMessage answer) {
        long number;
        if (answer instanceof LockMessage.Page page) {
            number = page.request();
        } else if (answer instanceof LockMessage.Status status) {
            number = status.request();
        } else if (answer instanceof LockMessage.Answer broken) {
            number = broken.request();
        } else {
            throw new IllegalStateException("not an answer: " + answer);
        }
        CompletableFuture<LockMessage> asked = open.remove(number);
        if (asked != null) {
            asked.complete(answer);
        }
    }

    void toldInPart(LockMessage.Page page, List<String> missing) {
        silent.put(page.request(), missing);
        told(page);
    }

    /** True if that number was a question of an administrator. */
    boolean failed(long number, LockException why) {
        CompletableFuture<LockMessage> asked = open.remove(number);
        return asked != null && asked.completeExceptionally(why);
    }

    void close() {
        closed = true;
        open.values().forEach(asked -> asked.completeExceptionally(closedBefore()));
    }

    private LockUnavailableException closedBefore() {
        return new LockUnavailableException("the client was closed before an answer came", null, server.get(), null);
    }
}
