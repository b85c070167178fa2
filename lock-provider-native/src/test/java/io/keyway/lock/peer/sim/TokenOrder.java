// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.HashMap;
import java.util.Map;

/**
 * R5: tokens of one name rise with each grant, over restarts too; no user gets a token twice, and none after a later
 * grant was made that is not higher. Needs no clock: it holds where all else may fail.
 */
final class TokenOrder implements LeaseOracle {
    private static final class Name {
        long used;
        Grant newest;

        Name(Grant first) {
            newest = first;
        }
    }

    private final Map<String, Name> names = new HashMap<>();

    @Override
    public void granted(Grant grant) {
        Name name = names.get(grant.name());
        if (name == null) {
            names.put(grant.name(), new Name(grant));
            return;
        }
        if (grant.token() <= name.newest.token() && !again(grant, name.newest)) {
            throw new Violation("R5", grant + " has no higher token than " + name.newest + ", which came first");
        }
        if (grant.token() <= name.used && !again(grant, name.newest)) {
            throw new Violation("R5", grant + " has no higher token than " + name.used + ", which a user had before");
        }
        if (grant.hi() < grant.token()) {
            throw new Violation("R5", grant + " has no token at all");
        }
        name.newest = grant;
    }

    /** A restarted authority takes over what its holder re-asserts. */
    private static boolean again(Grant grant, Grant newest) {
        return grant.token() == newest.token()
                && grant.member() == newest.member()
                && grant.client() == newest.client()
                && grant.life() == newest.life()
                && grant.memberLife() > newest.memberLife();
    }

    @Override
    public void began(Use use) {
        Name name = names.get(use.name);
        if (name == null) {
            throw new Violation("R5", use + ", and nobody granted it");
        }
        boolean late = !name.newest.covers(use.token) || name.newest.client() != use.client;
        if (late && use.token >= name.newest.token()) {
            throw new Violation("R5", use + ", and " + name.newest + " was granted since");
        }
        if (!late && use.token <= name.used) {
            throw new Violation("R5", use + " after " + name.used + " was handed out");
        }
        name.used = Math.max(name.used, use.token);
    }
}
