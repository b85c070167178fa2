// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.session.RpcFrame;
import java.util.List;
import java.util.stream.IntStream;

/** The steps of a world, for people. */
final class StepNames {
    private final Scope scope;
    private final Links links;
    private final Turns turns;

    StepNames(Scope scope, Links links, Turns turns) {
        this.scope = scope;
        this.links = links;
        this.turns = turns;
    }

    String of(int[] state, int step) {
        int who = step & 15;
        return switch (step >>> 4) {
            case Steps.TICK -> "a unit of time passes";
            case Steps.LAG -> "a unit of time passes, but not on the clock of " + node(who);
            case Steps.FIRE -> node(who) + " does what is due";
            case Steps.TO_MEMBER ->
                "to " + node(scope.memberOf.get(who)) + " from client " + who + ": " + text(state, links.toMember(who));
            case Steps.TO_CLIENT ->
                "to client " + who + " from " + node(scope.memberOf.get(who)) + ": " + text(state, links.toClient(who));
            case Steps.PAIR -> "to " + node(who & 3) + " from " + node(who >> 2) + ": " + said(state, who);
            case Steps.ASK ->
                "client " + who + " asks: "
                        + scope.asks
                                .get(who)
                                .get(turns.client(state[links.client(who)]).next());
            case Steps.RELEASE -> "client " + who + " releases";
            case Steps.WITHDRAW -> "client " + who + " gives up";
            case Steps.HEAR_END -> "client " + who + " hears that its session is over";
            case Steps.CONNECT -> "client " + who + " opens a session";
            case Steps.FORGET -> "the session of client " + who + " ends: it was silent";
            case Steps.CUT -> node(who) + " is cut off from the other members";
            case Steps.HEAL -> node(who) + " is cut off no more";
            case Steps.DIE -> "client " + who + " dies";
            default -> node(who) + " is killed and starts anew";
        };
    }

    /** Members, then clients. */
    List<String> processes() {
        return IntStream.range(0, links.firstLink()).mapToObj(this::node).toList();
    }

    private String node(int number) {
        return number < links.members ? "member " + scope.members.get(number) : "client " + (number - links.members);
    }

    private String said(int[] state, int pair) {
        int frame = state[links.pair(pair >> 2, pair & 3) + 1];
        return frame == Turns.STARTED_ANEW
                ? "it has started anew"
                : turns.frame(frame).messages().toString();
    }

    private String text(int[] state, int queue) {
        RpcFrame frame = turns.frame(state[queue + 1]);
        int age = state[queue + 2];
        String stamp = age == Turns.NO_ECHO ? "" : ", stamp " + age + " old";
        return (frame.messages().isEmpty() ? "KEEP" : frame.messages().toString()) + stamp;
    }
}
