// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * The address of a machine inside its cell.
 *
 * @param algorithm the algorithm's id; keys of two algorithms never meet
 * @param id what the machine stands for in that algorithm: a lock name, or, for an agent, a transaction
 */
public record Key(int algorithm, String id) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
        int byAlgorithm = Integer.compare(algorithm, other.algorithm);
        return byAlgorithm != 0 ? byAlgorithm : id.compareTo(other.id);
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof Key key && algorithm == key.algorithm && id.equals(key.id));
    }

    @Override
    public int hashCode() {
        return id.hashCode() * 31 + algorithm;
    }
}
