// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.TransactionOptions;
import java.util.List;
import java.util.Map;

/** The programs of docs/transactions.md, between the lines that say so. */
final class TransactionsExample {
    private TransactionsExample() {}

    // the transfer begins
    /** Moves money between two accounts; a transfer the other way does not block this one forever. */
    static void transfer(LockClient client, Map<String, Integer> accounts, String from, String to, int amount)
            throws InterruptedException {
        try (LockTransaction transaction = client.transaction()) {
            transaction.lockAll(List.of(LockRequest.exclusive(from), LockRequest.exclusive(to)));
            transaction.ensureHeld();
            accounts.merge(from, -amount, Integer::sum);
            accounts.merge(to, amount, Integer::sum);
        }
    }
    // the transfer ends

    // step by step begins
    /** Finds out which lock is next by what the one before protects. Returns how often it was aborted. */
    static int follow(LockClient client, Map<String, String> next, String first) throws InterruptedException {
        int aborted = 0;
        while (true) {
            TransactionOptions again = TransactionOptions.defaults().withAge(aborted);
            try (LockTransaction transaction = client.transaction(again)) {
                for (String name = first; name != null; name = next.get(name)) {
                    transaction.lock(name);
                }
                transaction.ensureHeld();
                return aborted;
            } catch (DeadlockException e) {
                // The locks are free again; what was begun under them has to be undone before that, inside.
                aborted = e.nextAge();
            }
        }
    }
    // step by step ends

    // the upgrade begins
    /** Reads beside others, and becomes the writer only if there is something to write. */
    static boolean fill(LockClient client, Map<String, Integer> stock, String item) throws InterruptedException {
        try (LockTransaction transaction = client.transaction()) {
            transaction.lock(item, LockMode.SHARED);
            if (stock.getOrDefault(item, 0) > 0) {
                return false;
            }
            transaction.lock(item, LockMode.EXCLUSIVE);
            transaction.ensureHeld();
            stock.put(item, 10);
            return true;
        }
    }
    // the upgrade ends

    // a tree of files begins
    /** Writes a file; others write other files of the same directories meanwhile. */
    static void write(LockClient client, Map<String, String> files, String path, String text)
            throws InterruptedException {
        try (Lease lease = client.tree(path).write().acquire()) {
            lease.ensureHeld();
            files.put(path, text);
        }
    }

    /** Moves all that lies in a directory into another one, while nobody is at work in either. */
    static void move(LockClient client, Map<String, String> files, String from, String to) throws InterruptedException {
        try (LockTransaction tree =
                client.transaction(TransactionOptions.defaults().withTree(true))) {
            tree.lockAll(List.of(LockRequest.exclusive(from), LockRequest.exclusive(to)));
            tree.ensureHeld();
            for (String path : List.copyOf(files.keySet())) {
                if (path.startsWith(from + "/")) {
                    files.put(to + path.substring(from.length()), files.remove(path));
                }
            }
        }
    }
    // a tree of files ends
}
