// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was broken on purpose around an agent that ships: it hears or says something else, or what it decides is carried
 * out in another way. Those that undo a repair name the flaw of the source by its number in docs/algorithms/agents.md.
 */
public enum AgentDefect {
    /** H1: what was surrendered counts as held. */
    SURRENDERED_COUNTS_AS_HELD,
    /** H4: a search reaches only who has a higher number than whoever passes it on. */
    ONLY_LARGER_HEAR,
    /** H3 and H4: agents keep what they hear to themselves. */
    NOBODY_PASSES_ON,
    /** H4b: who is the victim is no word of all: each takes itself for it. */
    ALL_RANK_HIGHEST,
    /** H12: the victim acts on what a search brought back, however old that is. */
    NO_CONFIRMATION,
    /** H13: who gives way is found by the plain number of how often it has, so all do in turn. */
    PLAIN_AGES,
    /** As agents once did: who holds nothing of a circle is not its victim, so two may surrender one lock in turn. */
    ONLY_HOLDERS_GIVE_WAY,
    /** Whoever waits for k of n nodes takes each wait for one that it cannot do without. */
    COUNTS_ON_EACH_NODE,
    /** Whoever waits in a circle at one node asks no other one instead. */
    WAITS_IN_A_CIRCLE,
    /** Whoever hears that another one of its circle gives way does so too. */
    ALL_GIVE_WAY,
    /** H9: a lock that its user relies on is surrendered as any other. */
    GIVES_UP_WHAT_IS_REPORTED,
    /** Who is granted a lock over nodes has the highest of their tokens, and tells no node of it. */
    RAISES_NOTHING,
    /** Who has raised its tokens takes the lock again from its cache, below them. */
    TAKES_IT_AGAIN;

    /** What becomes of a probe that an agent sends; null: it is lost. */
    public static @Nullable Probe sent(@Nullable AgentDefect defect, Probe.Agent self, Probe probe) {
        boolean own = probe.initiator().equals(self);
        if (defect == ONLY_HOLDERS_GIVE_WAY && !own) {
            return ranked(probe, 0);
        }
        return defect != NOBODY_PASSES_ON || own ? probe : null;
    }

    /** What a probe is when it arrives, by a grant of that agent or by its request; null: it does not. */
    public static @Nullable Probe arrives(
            @Nullable AgentDefect defect, Probe.Agent self, boolean byRequest, Probe probe) {
        boolean own = probe.initiator().equals(self);
        if (defect == ALL_RANK_HIGHEST) {
            return ranked(probe, own ? 0 : -1);
        } else if (defect == ONLY_HOLDERS_GIVE_WAY && byRequest) {
            return own ? null : ranked(probe, Integer.MIN_VALUE);
        }
        boolean larger = self.number() > probe.edge().waiter().number();
        return defect == ONLY_LARGER_HEAR && probe.kind() == Probe.Kind.SEARCH && !larger ? null : probe;
    }

    private static Probe ranked(Probe probe, int priority) {
        return new Probe(
                probe.kind(), probe.initiator(), priority, probe.age(), probe.round(), probe.step(), probe.path());
    }

    /** The age of one who has given way so often, as agents that age by the plain number would compare it. */
    static int plain(int times) {
        return (1 << Math.min(30, times)) - 1;
    }

    /** The same circle, as the one who is waited for on the edge of this probe sees it. */
    static Probe turned(Probe probe, Probe.Agent victim, long round) {
        List<Probe.Edge> path = new ArrayList<>();
        int size = probe.path().size();
        for (int i = 1; i <= size; i++) {
            path.add(probe.path().get((probe.step() + i) % size));
        }
        return new Probe(probe.kind(), victim, 0, 0, round, size - 1, path);
    }
}
