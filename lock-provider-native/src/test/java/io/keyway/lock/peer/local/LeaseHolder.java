// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that holds one lock: says {@code held TOKEN}, then answers each line by {@code believes true} or {@code
 * believes false}. Arguments: URL, name, and for how long it is to be held at least, if so.
 */
public final class LeaseHolder {
    private LeaseHolder() {}

    public static void main(String[] args) throws Exception {
        try (LockClient client = Locks.open(args[0]);
                Lease lease = client.lock(args[1]).with(options(args)).acquire()) {
            System.out.println("held " + lease.token());
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                System.out.println("believes " + lease.isHeld());
            }
        }
    }

    private static LockOptions options(String... args) {
        return args.length < 3 ? LockOptions.none() : LockOptions.none().withHoldAtLeast(Duration.parse(args[2]));
    }
}
