// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The floor of tokens that the ensemble keeps: what each session adds to the number of a transaction to make a token.
 *
 * @param floor 0 if the ensemble was given none
 * @param version of the node's data; empty if there is no node
 */
record StoredFloor(long floor, OptionalInt version) {
    private static final StoredFloor NONE = new StoredFloor(0, OptionalInt.empty());

    /** Reads it; fails with {@link Code#DATAINCONSISTENCY} if somebody else has written there. */
    static CompletableFuture<StoredFloor> read(EnsembleCalls calls, String path) {
        CompletableFuture<StoredFloor> answer = new CompletableFuture<>();
        CompletableFuture<?> unused = calls.read(path, null, (data, stat) -> parse(data, stat.getVersion()))
                .whenComplete((stored, failure) -> {
                    if (failure instanceof KeeperException.NoNodeException) {
                        answer.complete(NONE);
                    } else if (failure != null) {
                        answer.completeExceptionally(failure);
                    } else if (stored.isEmpty()) {
                        answer.completeExceptionally(KeeperException.create(Code.DATAINCONSISTENCY, path));
                    } else {
                        answer.complete(stored.get());
                    }
                });
        return answer;
    }

    static byte[] bytes(long floor) {
        return Long.toString(floor).getBytes(StandardCharsets.US_ASCII);
    }

    /** Empty if somebody else has written there; {@code data} is null if a tool wrote nothing. */
    private static Optional<StoredFloor> parse(byte @Nullable [] data, int version) {
        String text = data == null ? "" : new String(data, StandardCharsets.US_ASCII);
        return text.matches("[0-4]?[0-9]{1,18}")
                ? Optional.of(new StoredFloor(Long.parseLong(text), OptionalInt.of(version)))
                : Optional.empty();
    }
}
