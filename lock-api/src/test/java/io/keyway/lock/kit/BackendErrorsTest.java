// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Request;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A verb that ends with an {@link Error}, as where a class is missing: an unknown outcome as any other. */
class BackendErrorsTest {

    private static final Duration WAIT = Duration.ofSeconds(20);

    /** By the name of a verb, how many of its calls fail. */
    private final Map<String, Integer> failing = new ConcurrentHashMap<>();

    private volatile boolean confused;
    private final Set<Long> forgotten = ConcurrentHashMap.newKeySet();
    private final LockClient client = open();

    private LockClient open() {
        Interceptor between = new Interceptor() {
            @Override
            public LockBackend backend(LockBackend backend) {
                return (LockBackend) Proxy.newProxyInstance(
                        LockBackend.class.getClassLoader(),
                        new Class<?>[] {LockBackend.class},
                        (proxy, verb, arguments) -> {
                            if (failing.merge(verb.getName(), -1, Integer::sum) >= 0) {
                                throw new NoClassDefFoundError("org/example/Driver");
                            }
                            if (verb.getName().equals("forgotten")) {
                                forgotten.add(((Request) arguments[0]).id());
                            }
                            if (verb.getName().equals("attempt") && confused) {
                                Request asked = (Request) arguments[0];
                                return new Attempt.Granted(
                                        new Grant(asked.id() + 1000, asked.key(), 1, asked.ttl(), ""));
                            }
                            try {
                                return verb.invoke(backend, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
            }
        };
        return Locks.open(
                LockUrl.parse("lock:reference://errors?closeTimeout=2s"),
                ClientOptions.defaults().withName("errors"),
                getClass().getClassLoader(),
                between);
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void anAcquireGoesOnAndAReleaseIsRepeated() throws Exception {
        failing.put("start", 1);
        failing.put("attempt", 2);
        failing.put("release", 1);
        Lease lease = client.lock("x").tryAcquire(WAIT).orElseThrow();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        client.lock("x").tryAcquire(WAIT).orElseThrow().close();
    }

    @Test
    void aGrantWithTheIdOfAnotherRequestIsRefusedAndSaysWhy() {
        confused = true;
        assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("a Grant has the id of its Request");
    }

    @Test
    void aRenewalIsRepeated() throws Exception {
        failing.put("renew", 2);
        Lease lease = client.lock("x")
                .with(LockOptions.none().withTtl(Duration.ofSeconds(4)))
                .acquire();
        await().atMost(WAIT).until(() -> failing.getOrDefault("renew", 0) < 0);
        await().atMost(WAIT).until(() -> lease.remaining().compareTo(Duration.ofSeconds(2)) > 0);
        assertThat(lease.isHeld()).isTrue();
        lease.close();
    }

    @Test
    void aQuestionFailsWithItsCause() {
        failing.put("list", 1);
        assertThatThrownBy(() -> client.admin().list("", Optional.empty(), 10))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("NoClassDefFoundError: org/example/Driver");
    }

    @Test
    void whatTheEngineHasForgottenIsTold() throws Exception {
        failing.put("forgotten", 1);
        client.lock("x").acquire().close();
        client.lock("x").tryAcquire(WAIT).orElseThrow().close();
        client.lock("x").acquire().close();
        await("the first call failed, and the engine went on")
                .atMost(WAIT)
                .until(() -> forgotten.equals(Set.of(2L, 3L)));
    }
}
