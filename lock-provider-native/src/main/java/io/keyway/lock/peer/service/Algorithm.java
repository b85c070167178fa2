// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView.Restored;
import io.keyway.lock.peer.kernel.MemberView.Started;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.spi.OpenRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/**
 * One way to coordinate: all that the rest of the native provider has to know of it. Whoever runs cells, brings frames
 * to them, leads requests to members or serves users does so for any algorithm, and names none. A cluster runs one
 * algorithm; both ends of a session compare its id.
 *
 * <p>Immutable: what an instance is configured with does not change.
 */
public interface Algorithm {
    /** 1 to 255, in the keys and the bodies of all its messages; never used again for another algorithm. */
    int id();

    /** The protocol of its URLs, as in {@code lock:native:lease://a:7400/cluster}. */
    String name();

    /** Writes and reads its messages. */
    BodyCodec codec();

    /**
     * What decides to which member, and to which of its cells, the requests for that machine go: those of equal routes
     * go to the same one. Always the same answer.
     */
    default String route(Key key) {
        return key.id();
    }

    /** Which member serves a request. */
    enum Serving {
        /** The one to which its {@link #route} leads. */
        BY_ROUTE,
        /** Each: a client asks the one that it has found, and no other one as long as that one is a member. */
        BY_EACH,
        /** The one that leads, which the members elect; the others let no client in. */
        BY_LEADER
    }

    /** Which member serves its requests. */
    default Serving serving() {
        return Serving.BY_ROUTE;
    }

    /**
     * Makes the machines of a member's cell.
     *
     * @param owned whether this cell is the one to which requests of that {@link #route} go; always the same answer
     */
    MachineFactory memberMachines(Predicate<String> owned);

    /** Makes the machines of a client's cell. */
    MachineFactory clientMachines();

    /** Whether its member machines talk to those of other members: their turns then have {@link Turn#peers}. */
    default boolean talksToMembers() {
        return false;
    }

    /**
     * The machine of a member that adds and removes members while the others work, asked by {@link
     * LockMessage.ChangeMembers}; empty if the list does not change. Its members talk to members.
     */
    default Optional<Key> listKeeper() {
        return Optional.empty();
    }

    /** Whether members are added and removed while the others work. */
    default boolean isElastic() {
        return listKeeper().isPresent();
    }

    /** Whether a member tells by CLUSTER_UP, CLUSTER_DOWN, LOCK_READY and NO_LOCK whether locks can be granted. */
    default boolean tellsReadiness() {
        return false;
    }

    /**
     * What each cell of a member is given before the member ends in order, so that another member goes on with what
     * this one decides; empty if none can.
     */
    default Optional<Input.Command> leaving() {
        return Optional.empty();
    }

    /**
     * Whether each cell of the members elects its own leader: the cells of one number are then a group that knows
     * nothing of the other groups, and each cell has all of {@link #startingMachines}, and records of its own.
     */
    default boolean electsInEachCell() {
        return false;
    }

    /** The machines that a member's cell has from its start, each of which is called with {@link Started}. */
    default List<Key> startingMachines() {
        return List.of();
    }

    /**
     * Writes and reads what its member machines force to disk. Each start of a member gives the last record of each
     * machine back to it, with {@link Restored}, in the cell that decides on the machine's {@link #route}; in the cell
     * that has forced it, where {@link #electsInEachCell}. Empty if its machines force nothing.
     */
    default Optional<RecordCodec> records() {
        return Optional.empty();
    }

    /**
     * For how many of the longest leases others may count on what a member has said: 1 if nobody but clients does. A
     * member that does not know what it has promised lets its horizon be as far away.
     */
    default int leases() {
        return 1;
    }

    /** The same algorithm, as a client runs it that is opened with those options. */
    default Algorithm openedWith(OpenRequest request) {
        return this;
    }

    /**
     * The same algorithm, as a member runs it that takes part in elections of leaders.
     *
     * @param leaders how many members lead; the same at all members; empty for the usual number
     * @param priority of this member, the smallest first; empty for the usual one
     * @throws IllegalArgumentException if it elects no leaders, or not so many, or knows no such priority
     */
    default Algorithm electing(OptionalInt leaders, OptionalInt priority) {
        throw new IllegalArgumentException(
                name() + " elects no leaders, as bakery and failover do: leave out leaders and priority");
    }

    /** What its members must agree on beside their list, for people; empty if there is nothing. */
    default String agreement() {
        return "";
    }

    /** Whether every lock of its clients is one of a tree. */
    default boolean locksTrees() {
        return false;
    }

    /** What its clients can do that are opened with that URL. */
    Set<Feature> features(LockUrl url);

    /**
     * What it promises.
     *
     * @param scope who shares the locks: one JVM, one machine, or several
     * @param maxTtl the longest lease that is granted
     */
    Guarantees guarantees(Scope scope, Duration maxTtl);
}
