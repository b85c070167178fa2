// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static io.keyway.lock.redis.OneBackend.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walks at random through all verbs of three clients, with terms that end meanwhile and terms that do not: after each
 * step, whatever it was, no key of a name would stay forever if nobody used that name again.
 */
class EndlessKeysTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int STEPS = 100;

    /** A grant, and whose it is. */
    private record Held(OneBackend client, Request request, Grant grant) {}

    /** A request that waits, and whose it is. */
    private record Waiting(OneBackend client, Request request) {}

    private final List<OneBackend> clients = new ArrayList<>();
    private final List<Held> held = new ArrayList<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private final List<String> story = new ArrayList<>();
    private final TreeSet<String> seen = new TreeSet<>();
    private Random random = new Random();
    private long requests;
    private int round;

    @Test
    void noKeyIsWithoutAnEndAfterAnyStep(@TempDir Path directory) throws Exception {
        walks(directory, 20);
    }

    @Test
    @Tag("soak")
    void noKeyIsWithoutAnEndInManyWalks(@TempDir Path directory) throws Exception {
        walks(directory, 600);
    }

    private void walks(Path directory, int rounds) throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                OneBackend one = new OneBackend(server);
                OneBackend two = new OneBackend(server);
                OneBackend three = new OneBackend(server)) {
            clients.addAll(List.of(one, two, three));
            for (round = 0; round < rounds; round++) {
                random = new Random(round);
                held.clear();
                waiting.clear();
                story.clear();
                story.add("seed " + round);
                for (int i = 0; i < STEPS; i++) {
                    String done = step();
                    story.add(done);
                    seen.add(done.replaceAll(" (\\d|Request).*", ""));
                    assertThat(server.endless())
                            .as(() -> String.join("\n", story))
                            .isEmpty();
                }
            }
        }
        assertThat(seen)
                .contains(
                        "break true",
                        "convert to EXCLUSIVE Granted",
                        "convert to EXCLUSIVE Waiting",
                        "convert to SHARED Granted",
                        "drain Granted",
                        "drain Waiting",
                        "exclusive Granted",
                        "exclusive Waiting",
                        "keep DONE",
                        "permits Granted",
                        "permits Waiting",
                        "release DONE",
                        "renew DONE",
                        "shared Granted",
                        "withdraw a grant",
                        "withdraw a waiter");
    }

    private String step() throws Exception {
        int verb = random.nextInt(20);
        if (verb < 7 || (held.isEmpty() && waiting.isEmpty())) {
            return ask(any(clients), request());
        }
        if (verb < 10 && !waiting.isEmpty()) {
            Waiting again = any(waiting);
            waiting.remove(again);
            return ask(again.client, again.request);
        }
        if (verb == 10 && !waiting.isEmpty()) {
            Waiting gone = any(waiting);
            waiting.remove(gone);
            gone.client.backend.withdraw(gone.request, LIMIT);
            return "withdraw a waiter " + gone.request.id();
        }
        if (verb == 11) {
            return breakOne();
        }
        return held.isEmpty() ? "nothing" : withGrant(verb, any(held));
    }

    private String withGrant(int verb, Held one) throws Exception {
        RedisBackend backend = one.client.backend;
        if (verb == 12) {
            return "renew " + backend.renew(List.of(one.grant), LIMIT).get(0) + " " + one.grant.id();
        }
        if (verb < 16 && one.grant.key().kind() == LockKey.Kind.LOCK) {
            return convert(one);
        }
        held.remove(one);
        if (verb == 16) {
            backend.withdraw(one.request, LIMIT);
            return "withdraw a grant " + one.grant.id();
        }
        Answer answer = verb == 17 ? backend.release(one.grant, LIMIT) : backend.keep(one.grant, LIMIT);
        return (verb == 17 ? "release " : "keep ") + answer + " " + one.grant.id();
    }

    private String ask(OneBackend client, Request request) throws Exception {
        String what = request.isSoft() ? "drain" : request.mode().name().toLowerCase(Locale.ROOT);
        String answer = attempted(client, request, () -> client.backend.attempt(request, LIMIT));
        return what + " " + answer + " " + request;
    }

    private String convert(Held one) throws Exception {
        LockMode mode = one.request.mode() == LockMode.SHARED ? LockMode.EXCLUSIVE : LockMode.SHARED;
        Request wanted = request(one.grant.key(), mode, 1, 1, Optional.empty());
        String answer = attempted(one.client, wanted, () -> one.client.backend.convert(one.grant, wanted, LIMIT));
        if (answer.equals("Granted")) {
            held.remove(one);
        }
        // An upgrade that waits asks again by convert alone.
        waiting.removeIf(each -> each.request.equals(wanted));
        if (random.nextBoolean()) {
            one.client.backend.withdraw(wanted, LIMIT);
            held.removeIf(each -> each.request.equals(wanted));
        }
        return "convert to " + mode + " " + answer + " " + wanted;
    }

    private interface Call {
        Attempt make() throws Exception;
    }

    private String attempted(OneBackend client, Request request, Call call) throws Exception {
        Attempt answer;
        try {
            answer = call.make();
        } catch (NotExecutedException e) {
            return "NotExecuted";
        }
        if (answer instanceof Attempt.Granted granted) {
            held.add(new Held(client, request, granted.grant()));
        } else if (answer instanceof Attempt.Waiting && request.queue()) {
            waiting.add(new Waiting(client, request));
        }
        return answer.getClass().getSimpleName();
    }

    private String breakOne() throws Exception {
        RedisBackend backend = any(clients).backend;
        LockKey key = key(random.nextBoolean());
        List<LockStatus.Holder> holders =
                backend.show(key, LIMIT).map(LockStatus::holders).orElse(List.of());
        if (holders.isEmpty()) {
            return "permits out " + backend.availablePermits(key(true), 3, LIMIT);
        }
        LockStatus.Holder holder = any(holders);
        return "break " + backend.breakGrant(key, holder.token().orElseThrow(), "a test", LIMIT) + " "
                + holder.token().orElseThrow();
    }

    private LockKey key(boolean permits) {
        LockName name = LockName.of("n" + round);
        return permits ? LockKey.semaphore(name) : LockKey.lock(name);
    }

    private Request request() {
        int kind = random.nextInt(8);
        if (kind < 2) {
            return request(key(true), LockMode.PERMITS, 1 + random.nextInt(2), 2 + random.nextInt(2), Optional.empty());
        }
        if (kind == 2) {
            Duration quiet = random.nextBoolean() ? Duration.ZERO : SHORT;
            return request(key(false), LockMode.EXCLUSIVE, 1, 1, Optional.of(quiet));
        }
        return request(key(false), kind < 5 ? LockMode.SHARED : LockMode.EXCLUSIVE, 1, 1, Optional.empty());
    }

    private Request request(LockKey key, LockMode mode, int permits, int capacity, Optional<Duration> quiet) {
        Duration ttl = random.nextInt(3) == 0 ? LONG : SHORT;
        Duration least = List.of(Duration.ZERO, SHORT, SHORT.multipliedBy(2), LONG)
                .get(random.nextInt(random.nextInt(4) == 0 ? 4 : 3));
        return new Request(
                ++requests,
                key,
                mode,
                permits,
                capacity,
                ttl,
                random.nextInt(4) > 0,
                new Owner("a", Map.of()),
                least,
                1,
                quiet);
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
