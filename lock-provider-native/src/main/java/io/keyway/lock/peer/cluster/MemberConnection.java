// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.OpeningWatch;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.session.WelcomeInfo;
import org.jspecify.annotations.Nullable;

/**
 * A cell of a client that talks to one authority of a cluster, as {@link Router} sees it. Its state is the router's.
 */
public abstract class MemberConnection implements ClientCell {
    private volatile String server;
    private volatile @Nullable NodeId node;
    private final OpeningWatch opening = new OpeningWatch();
    private @Nullable WelcomeInfo greeting;
    private @Nullable Unreachable trouble;

    /**
     * @param server whom this is about, in messages
     * @param node the member that it is for; null while any member will do
     */
    protected MemberConnection(String server, @Nullable NodeId node) {
        this.server = server;
        this.node = node;
    }

    /** A member's id, or the cluster while that is not known. */
    @Override
    public final String server() {
        return server;
    }

    /** The member that it is for; null while any member will do. */
    final @Nullable NodeId node() {
        return node;
    }

    /** It talks to that member from now on. */
    protected void settled(NodeId member) {
        node = member;
        server = member.toString();
    }

    /** What its member said last of itself; null before the first welcome. */
    final @Nullable WelcomeInfo greeting() {
        return greeting;
    }

    /** When its member grants; may be asked by any thread. */
    final OpeningWatch opening() {
        return opening;
    }

    /** True if that greeting was not seen before. */
    @SuppressWarnings("ReferenceEquality") // each welcome counts, also one that says the same
    final boolean greeted(@Nullable WelcomeInfo now) {
        boolean fresh = now != null && now != greeting;
        greeting = now;
        return fresh;
    }

    /** True if that trouble was not seen before. */
    @SuppressWarnings("ReferenceEquality") // each attempt counts, also one that fails in the same way
    final boolean troubled(@Nullable Unreachable now) {
        boolean fresh = now != null && now != trouble;
        trouble = now;
        return fresh;
    }
}
