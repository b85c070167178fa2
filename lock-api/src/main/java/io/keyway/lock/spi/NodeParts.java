// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * How a lock over nodes is made of locks at nodes: its part at the member {@code a:7400} is the lock {@code
 * @a:7400/name}, an ordinary one in all but two things. With {@link io.keyway.lock.Feature#NODE_SETS} that member
 * decides on it, whatever members there are beside it; and its owner says of which set it is a part, so that whoever
 * has it can refuse another set of the same name. Pure.
 */
public final class NodeParts {
    /** The key of the metadata by which an owner says of which set its grant, or its request, is a part. */
    public static final String SET = "keyway.nodes";

    /** The key of the metadata of a part that was asked for when its lock was held: under which token that is held. */
    private static final String TOKEN = "keyway.token";

    private NodeParts() {}

    /**
     * {@return the name of the part at that node}
     *
     * @param lock the lock over nodes
     * @param node the id of a member
     * @throws IllegalArgumentException if that is too long for a name, or has too many segments
     */
    public static LockName part(LockName lock, String node) {
        return LockName.of("@" + node + "/" + lock);
    }

    /**
     * {@return the id of the member that decides on what has this name, if it is a member}
     *
     * @param name the name of any lock or semaphore, as text
     */
    public static Optional<String> node(String name) {
        if (!name.startsWith("@")) {
            return Optional.empty();
        }
        int slash = name.indexOf('/');
        int end = slash < 0 ? name.length() : slash; // the level above all parts at a node is that node's, too
        return end < 2 ? Optional.empty() : Optional.of(name.substring(1, end));
    }

    /**
     * {@return that owner, saying of which set it is} Readers at ANY of a list and writers at ALL of it say the same:
     * the one's grant is in the other's way, wherever it is.
     *
     * @param owner who asks
     * @param set of which set
     * @throws IllegalArgumentException if that is more than the metadata of an owner may be
     */
    public static Owner saying(Owner owner, NodeSet set) {
        Map<String, String> metadata = new TreeMap<>(owner.metadata());
        NodeRule kind = set.rule() == NodeRule.ANY ? NodeRule.ALL : set.rule();
        metadata.put(SET, new NodeSet(set.nodes(), kind).toString());
        Owner saying = new Owner(owner.client(), metadata);
        // As the options of a lock bound it: no member takes more.
        LockOptions.none()
                .withMetadata(
                        kind == NodeRule.MAJORITY
                                ? under(saying, Long.MAX_VALUE).metadata()
                                : metadata);
        return saying;
    }

    /**
     * {@return that owner, saying that it holds the lock already, and under which token} What it asks for is one more
     * part, whose own token may be a higher one.
     *
     * @param owner who asks
     * @param token of the lock
     */
    public static Owner under(Owner owner, long token) {
        Map<String, String> metadata = new TreeMap<>(owner.metadata());
        metadata.put(TOKEN, Long.toString(token));
        return new Owner(owner.client(), metadata);
    }

    /**
     * {@return the token of the lock, if the client with that metadata said that it held the lock when it asked for
     * this part of it}
     *
     * @param metadata of a holder or waiter
     */
    public static OptionalLong token(Map<String, String> metadata) {
        String said = metadata.get(TOKEN);
        try {
            return said == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(said));
        } catch (NumberFormatException e) {
            return OptionalLong.empty(); // no client of ours wrote that
        }
    }

    /**
     * {@return what of that metadata its owner's user gave} That of all its parts is the same.
     *
     * @param metadata of a holder or waiter
     */
    public static Map<String, String> given(Map<String, String> metadata) {
        Map<String, String> given = new TreeMap<>(metadata);
        given.remove(SET);
        given.remove(TOKEN);
        return given;
    }

    /**
     * {@return of which set that owner says it is a part; empty if it is of none} The list of its nodes is what follows
     * the last space, with commas between.
     *
     * @param owner who asks or holds
     */
    public static Optional<String> said(Owner owner) {
        return Optional.ofNullable(owner.metadata().get(SET));
    }

    /**
     * {@return whether who asks says of which set it is, and the first of the others who says so too says another}
     * They have been compared with each other already.
     *
     * @param <T> what the others have or want
     * @param asked who asks
     * @param others what is there
     * @param owner whose each of that is
     */
    public static <T> boolean isOther(Owner asked, Iterable<T> others, Function<T, Owner> owner) {
        String said = asked.metadata().get(SET);
        if (said != null) {
            for (T each : others) {
                String known = owner.apply(each).metadata().get(SET);
                if (known != null) {
                    return !said.equals(known);
                }
            }
        }
        return false;
    }
}
