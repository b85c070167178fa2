// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.agent;

import java.util.List;

/** What searches see of an agent. */
public final class AgentTwin {
    /** What asks for a search within this time waits for its end. */
    public static final long SHORTEST = Agent.SHORTEST;

    private AgentTwin() {}

    /** One that does from now on what that one would, with other effects. */
    public static Agent of(Agent agent, AgentEffects effects) {
        return agent.copy(effects);
    }

    /** What it goes by; equal of equal agents. */
    public static List<Object> state(Agent agent, long now) {
        return agent.state(now);
    }

    /** So much time has passed for it. */
    public static void older(Agent agent, long nanos) {
        agent.older(nanos);
    }
}
