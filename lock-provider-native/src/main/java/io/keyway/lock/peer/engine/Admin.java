// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.IncompleteListingException;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.Buckets;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
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

/** Questions of an administrator, and the answers that come back to them by number. */
final class Admin {
    /** Above the numbers that the façade gives to requests for locks. */
    private static final long FIRST = 1L << 62;

    private final AtomicLong numbers = new AtomicLong(FIRST);
    private final Map<Long, CompletableFuture<LockNotice.Told>> open = new ConcurrentHashMap<>();

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
        LockCall.Question question =
                new LockCall.ListNames(numbers.incrementAndGet(), prefix, after, max, limit.toNanos());
        return ask(LockKeys.directory(algorithm), question).thenCompose(told -> {
            LockMessage.Page page = (LockMessage.Page) told.answer();
            List<CompletableFuture<Optional<LockStatus>>> each = new ArrayList<>();
            List<String> missing = told.silent();
            // Those that were waited for in vain have used up half of the time.
            Duration left = missing.isEmpty() ? limit : limit.dividedBy(4);
            for (String name : page.names()) {
                each.add(show(new Key(algorithm, name), left));
            }
            return CompletableFuture.allOf(each.toArray(new CompletableFuture<?>[0]))
                    .thenApply(all -> whole(page(page, each), missing));
        });
    }

    private LockPage whole(LockPage page, List<String> missing) {
        if (!missing.isEmpty()) {
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
    CompletableFuture<Optional<LockStatus>> show(Key key, Duration limit) {
        return status(key, limit).thenApply(status -> shown(LockKeys.named(key.id()), status));
    }

    /** How many permits are in use. */
    CompletableFuture<Integer> permitsOut(Key semaphore, Duration limit) {
        return status(semaphore, limit).thenApply(LockMessage.Status::out);
    }

    /** Answered when the version is not that one any more, after half of the limit in any case. */
    CompletableFuture<Long> change(Key key, long known, Duration limit) {
        return ask(key, new LockCall.Watch(numbers.incrementAndGet(), known, limit.toNanos()))
                .thenApply(told -> ((LockMessage.Changed) told.answer()).version());
    }

    private CompletableFuture<LockMessage.Status> status(Key key, Duration limit) {
        return ask(key, new LockCall.Show(numbers.incrementAndGet(), limit.toNanos()))
                .thenApply(told -> (LockMessage.Status) told.answer());
    }

    private static Optional<LockStatus> shown(LockKey key, LockMessage.Status status) {
        if (status.holders().isEmpty()
                && status.waiters().isEmpty()
                && status.softWriters().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new LockStatus(
                key,
                status.holders().stream().map(Admin::holder).toList(),
                status.waiters().stream().map(Admin::waiter).toList(),
                Buckets.of(status.out(), status.perResource()),
                status.softWriters().stream().map(Admin::waiter).toList()));
    }

    private static LockStatus.Holder holder(Participant participant) {
        return new LockStatus.Holder(
                participant.owner().client(),
                participant.mode(),
                participant.permits(),
                token(participant),
                Duration.ofNanos(participant.nanos()),
                participant.owner().metadata(),
                participant.kept() == 0 ? Optional.empty() : Optional.of(Duration.ofNanos(participant.kept())));
    }

    private static LockStatus.Waiter waiter(Participant participant) {
        return new LockStatus.Waiter(
                participant.owner().client(),
                participant.mode(),
                participant.permits(),
                token(participant),
                Duration.ofNanos(participant.nanos()),
                participant.owner().metadata());
    }

    private static OptionalLong token(Participant participant) {
        return participant.token() == 0 ? OptionalLong.empty() : OptionalLong.of(participant.token());
    }

    /** Whether no token of that name is given any more that is not higher. */
    CompletableFuture<Boolean> raise(Key key, long token, Duration limit) {
        return ask(key, new LockCall.Raise(numbers.incrementAndGet(), token, limit.toNanos()))
                .thenApply(told -> ((LockMessage.Answer) told.answer()).done());
    }

    CompletableFuture<Boolean> breakGrant(Key key, long token, String reason, Duration limit) {
        LockCall.Question question = new LockCall.Break(numbers.incrementAndGet(), token, reason, limit.toNanos());
        return ask(key, question).handle((told, failure) -> {
            if (failure != null) {
                LockKey named = LockKeys.named(key.id());
                throw new OutcomeUnknownException(
                        "Breaking token " + token + " of " + named.name() + " was not confirmed by " + server.get()
                                + ": "
                                + failure.getMessage()
                                + ". The lock is free as soon as its holder has stopped. It names the token, "
                                + "so it"
                                + " is safe to send it again.",
                        named.name(),
                        server.get(),
                        failure);
            }
            return ((LockMessage.Answer) told.answer()).done();
        });
    }

    /** Says to the machine of that key that a member is to be in the list, or not; or asks for the list. */
    CompletableFuture<LockMessage.Members> changeMembers(Key keeper, String member, boolean add, Duration limit) {
        LockCall.Question question =
                new LockCall.ChangeMembers(numbers.incrementAndGet(), member, add, limit.toNanos());
        return ask(keeper, question).thenApply(told -> (LockMessage.Members) told.answer());
    }

    private CompletableFuture<LockNotice.Told> ask(Key key, LockCall.Question question) {
        CompletableFuture<LockNotice.Told> answer = new CompletableFuture<>();
        open.put(question.request(), answer);
        try {
            post.accept(key, question);
        } catch (LockException e) {
            open.remove(question.request());
            answer.completeExceptionally(e);
        }
        if (closed) {
            answer.completeExceptionally(closedBefore());
        }
        return answer;
    }

    void told(LockNotice.Told told) {
        CompletableFuture<LockNotice.Told> asked = open.remove(told.answer().request());
        if (asked != null) {
            asked.complete(told);
        }
    }

    /** True if that number was a question of an administrator. */
    boolean failed(long number, LockException why) {
        CompletableFuture<LockNotice.Told> asked = open.remove(number);
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
