// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.service.LockMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * R5: tokens of one name rise with each grant, over restarts too; no user gets a token twice, and none after a later
 * grant was made that is not higher, unless it is of a grant of its own. Where each member grants to its own clients,
 * readers beside each other have tokens in any order, but who asks when another one was granted has a higher one. Needs
 * no clock: it holds where all else may fail.
 */
final class TokenOrder implements LeaseOracle {
    private static final class Given {
        Grant grant;
        /** The last of its tokens that a user had; 0 if none had. */
        long used;

        Given(Grant grant) {
            this.grant = grant;
        }
    }

    private static final class Name {
        /** By the first token. */
        final TreeMap<Long, Given> grants = new TreeMap<>();

        long used;
        /** The one with the highest token. */
        Given newest;
        /** The highest tokens of writers: granted, and in a user's hand. */
        long written;

        long usedToWrite;

        Name(Grant first) {
            newest = new Given(first);
            add(newest);
        }

        void add(Given given) {
            grants.put(given.grant.token(), given);
            newest = given.grant.token() > newest.grant.token() ? given : newest;
            if (given.grant.mode() == LockMode.EXCLUSIVE) {
                written = Math.max(written, given.grant.token());
            }
        }
    }

    private final Map<String, Name> names = new HashMap<>();
    /** Whether another member takes over what holders assert of grants of its predecessor. */
    private final boolean moves;
    /** Whether each member grants to its own clients. */
    private final boolean attached;
    /** Of such a world, by request: the highest token of its name when it came to its member. */
    private final Map<Long, Long> arrivals = new HashMap<>();

    TokenOrder() {
        this(false, false);
    }

    TokenOrder(boolean moves, boolean attached) {
        this.moves = moves;
        this.attached = attached;
    }

    @Override
    public void came(String name, LockMessage.Acquire request) {
        Name known = names.get(name);
        if (attached && request.mode() == LockMode.SHARED && known != null) {
            arrivals.putIfAbsent(request.request(), known.newest.grant.token());
        }
    }

    @Override
    public void granted(Grant grant) {
        Name name = names.get(grant.name());
        if (name == null) {
            names.put(grant.name(), new Name(grant));
            return;
        }
        Given before = name.grants.get(grant.token());
        if (before != null && again(grant, before.grant)) {
            before.grant = grant;
            return;
        }
        boolean beside = attached && grant.mode() == LockMode.SHARED;
        long first =
                beside ? Math.max(name.written, arrivals.getOrDefault(grant.request(), 0L)) : name.newest.grant.token();
        if (grant.token() <= first) {
            throw new Violation("R5", grant + " has no higher token than " + first + ", which came first");
        }
        long used = beside ? name.usedToWrite : name.used;
        if (grant.token() <= used) {
            throw new Violation("R5", grant + " has no higher token than " + used + ", which a user had before");
        }
        if (grant.hi() < grant.token()) {
            throw new Violation("R5", grant + " has no token at all");
        }
        name.add(new Given(grant));
    }

    /** An authority that was restarted, or took over, goes on with what a holder re-asserts; a mode may change back. */
    private boolean again(Grant grant, Grant before) {
        boolean same = grant.member() == before.member();
        boolean later = same ? grant.memberLife() > before.memberLife() || grant.isBack() : moves;
        return later && grant.client() == before.client() && grant.life() == before.life();
    }

    @Override
    public void began(Use use) {
        Name name = names.get(use.name);
        if (name == null) {
            throw new Violation("R5", use + ", and nobody granted it");
        }
        Map.Entry<Long, Given> entry = name.grants.floorEntry(use.token);
        Given given = entry == null ? name.newest : entry.getValue();
        Grant newest = name.newest.grant;
        boolean late = !given.grant.covers(use.token) || given.grant.client() != use.client;
        if (late && use.token >= newest.token()) {
            throw new Violation("R5", use + ", and " + newest + " was granted since");
        }
        if (!late && use.token <= given.used) {
            throw new Violation("R5", use + " after " + given.used + " was handed out");
        }
        if (!late) {
            given.used = use.token;
        }
        name.used = Math.max(name.used, use.token);
        name.usedToWrite = use.mode == LockMode.EXCLUSIVE ? Math.max(name.usedToWrite, use.token) : name.usedToWrite;
    }
}
