// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** A process that holds one lock: says {@code held TOKEN}, then answers each line by {@code believes true} or {@code believes false}. Arguments: URL, name. */
public final class LeaseHolder {
    private LeaseHolder() {}

    public static void main(String[] args) throws Exception {
        try (LockClient client = Locks.open(args[0]);
                Lease lease = client.lock(args[1]).acquire()) {
            System.out.println("held " + lease.token());
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
                System.out.println("believes " + lease.isHeld());
            }
        }
    }
}
