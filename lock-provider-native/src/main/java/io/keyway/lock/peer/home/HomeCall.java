// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Owner;
import java.util.List;

/**
 * What the coordinator of a member and its managers of single locks tell each other. A request goes by the number that
 * its manager gave it.
 */
public sealed interface HomeCall extends Call {
    /** Of a manager to the coordinator. */
    sealed interface OfManager extends HomeCall {
        String name();
    }

    /**
     * A client asks.
     *
     * @param mode exclusive, or shared where the algorithm has readers
     * @param quiet of a soft writer, as {@link LockMessage.Acquire} says it; IN_THE_QUEUE for all others
     * @param answerAtOnce it is to hear of {@link Behind}
     * @param wantPlace it is to hear of {@link Placed}
     * @param since when its user asked, on the cell's clock
     */
    record Want(
            String name,
            long number,
            LockMode mode,
            long quiet,
            Owner owner,
            boolean answerAtOnce,
            boolean wantPlace,
            long since)
            implements OfManager {
        /** A writer that has its place in the order. */
        public Want(String name, long number, Owner owner, boolean answerAtOnce, boolean wantPlace, long since) {
            this(
                    name,
                    number,
                    LockMode.EXCLUSIVE,
                    LockMessage.Acquire.IN_THE_QUEUE,
                    owner,
                    answerAtOnce,
                    wantPlace,
                    since);
        }
    }

    /**
     * That request is over.
     *
     * @param granted when a reader was granted it; {@link Turn#NEVER} if it was not, and of others
     */
    record Leave(String name, long number, long granted) implements OfManager {
        /** One that no reader was granted. */
        public Leave(String name, long number) {
            this(name, number, Turn.NEVER);
        }
    }

    /** A client holds what a former life of this member granted. Answered by {@link Adopted}. */
    record Adopt(String name, long number, long token, Owner owner, long since) implements OfManager {}

    /** Who does not answer, so that the request waits? Answered by {@link Waiting}. */
    record WhoIsSilent(String name, long number) implements OfManager {}

    /** An administrator asks who holds and who waits. */
    record Show(String name, Peer peer, long request) implements OfManager {}

    /** An administrator breaks a grant, wherever it is. */
    record Break(String name, Peer peer, long request, long token, String reason) implements OfManager {}

    /** Answers {@link TakenBack} of a request that was not granted: it waits again. */
    record NotGiven(String name, long number) implements OfManager {}

    /** Answers {@link BreakHere}. */
    record BrokenHere(String name, long number, boolean done) implements OfManager {}

    /**
     * To the cluster's monitor: a majority of these members decides, and may do so until then on the cell's clock.
     *
     * @param until {@link Turn#NEVER} if they may not decide
     */
    record Deciding(List<String> members, long until) implements HomeCall {}

    /** To a manager: it is the turn of that request, whose token this is. Once for each request. */
    record Yours(long number, long token) implements HomeCall {}

    /**
     * To a manager: what that request was given is lost. Its client is told; {@link Over} follows, or {@link NotGiven}.
     */
    record TakenBack(long number, String why) implements HomeCall {}

    /** To a manager: the client of a grant that was taken back cannot believe in it any more. */
    record Over(long number) implements HomeCall {}

    /** To a manager: all members have answered, and others are before that request. */
    record Behind(long number, List<Participant> holders) implements HomeCall {}

    /** To a manager: so many are before that request. */
    record Placed(long number, int ahead, List<Participant> holders) implements HomeCall {}

    /** To a manager: the claim stands, or not. */
    record Adopted(long number, boolean stands) implements HomeCall {}

    /**
     * To a manager: these members have not answered.
     *
     * @param asked they were asked; otherwise this member could not ask yet
     * @param rule who must answer, as the beginning of a sentence
     * @param silent their ids; empty if all have
     */
    record Waiting(long number, boolean asked, String rule, List<String> silent) implements HomeCall {}

    /** To a manager: the grant of that token is to be broken. Answered by {@link BrokenHere} of that number. */
    record BreakHere(long number, long token, String reason) implements HomeCall {}
}
