// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The program of a {@link ClientProcess}. Arguments: perhaps the client's name and the ttl of its locks in
 * milliseconds; the first line that it reads is the URL.
 */
final class ClientProgram {
    private final LockClient client;
    private final Map<String, Lease> leases = new HashMap<>();

    private ClientProgram(LockClient client) {
        this.client = client;
    }

    @SuppressWarnings("SystemOut") // the line protocol of this process
    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String url = in.readLine();
        if (url == null) {
            return;
        }
        try (LockClient client = Locks.open(url, options(args))) {
            ClientProgram program = new ClientProgram(client);
            System.out.println("ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("answer " + program.obey(line.split(" ", -1)));
            }
        }
    }

    private static ClientOptions options(String... args) {
        if (args.length < 2) {
            return ClientOptions.defaults();
        }
        Duration ttl = Duration.ofMillis(Long.parseLong(args[1]));
        return ClientOptions.defaults()
                .withName(args[0])
                .withDefaults(LockOptions.none().withTtl(ttl));
    }

    private String obey(String... words) throws InterruptedException {
        String name = words[1];
        return switch (words[0]) {
            case "acquire" -> acquire(name, Duration.ofMillis(Long.parseLong(words[2])));
            case "held" -> Boolean.toString(lease(name).isHeld());
            case "loss" -> loss(lease(name), Duration.ofMillis(Long.parseLong(words[2])));
            case "release" -> lease(name).release().toString();
            default -> "what? " + words[0];
        };
    }

    private String acquire(String name, Duration wait) throws InterruptedException {
        try {
            Optional<Lease> lease = client.lock(name).tryAcquire(wait);
            lease.ifPresent(got -> leases.put(name, got));
            return lease.map(got -> "token " + got.token()).orElse("none");
        } catch (LockException e) {
            return "failed " + String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }

    private static String loss(Lease lease, Duration wait) throws InterruptedException {
        try {
            return lease.lost()
                    .thenApply(LeaseLoss::cause)
                    .toCompletableFuture()
                    .get(wait.toMillis(), TimeUnit.MILLISECONDS)
                    .toString();
        } catch (TimeoutException e) {
            return "none";
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private Lease lease(String name) {
        Lease lease = leases.get(name);
        if (lease == null) {
            throw new IllegalStateException("no lease of " + name + " was acquired");
        }
        return lease;
    }
}
