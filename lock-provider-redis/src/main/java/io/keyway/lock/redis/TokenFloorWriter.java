// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.TokenFloor;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives a store the floor of tokens that its client asks for. The floor is remembered in one place once all floor keys
 * have the lift that it needs, in a cluster one for each slot; so clients without the option need not ask for it, and a
 * server that is down keeps nobody from the others.
 */
final class TokenFloorWriter {

    private static final RedisScript GIVEN = RedisScript.read("given");
    private static final RedisScript RAISE = RedisScript.read("raise");
    private static final byte[] REMEMBER = {'1'};
    /** Of one exchange, so that none is larger than what is read meanwhile. */
    private static final int AT_ONCE = 512;

    private final RedisLink link;
    private final RedisSettings settings;
    private final TokenFloor floor;

    /** So many floor keys have the lift; a start that ran out of time is gone on with by the next. */
    private int raised;

    TokenFloorWriter(RedisLink link, RedisSettings settings, TokenFloor floor) {
        this.link = link;
        this.settings = settings;
        this.floor = floor;
    }

    /**
     * Returns when the store has it; throws {@link io.keyway.lock.InvalidLockUrlException} if the store has a higher
     * one.
     */
    void give(Tokens tokens, Deadline deadline) throws Exception {
        long lift = Tokens.liftOver(floor.wanted());
        if (floor.isAbove(stored(given(), deadline))) {
            raise(lift, deadline);
            boolean unused = floor.isAbove(stored(given(REMEMBER), deadline));
        }
        tokens.learn(lift);
    }

    private void raise(long lift, Deadline deadline) throws Exception {
        List<String> keys = link.floorKeys(settings.prefix());
        byte[][] arguments = {Tokens.counted(lift)};
        while (raised < keys.size()) {
            List<String> next = keys.subList(raised, Math.min(keys.size(), raised + AT_ONCE));
            List<ScriptCall> calls = new ArrayList<>(next.size());
            for (String key : next) {
                calls.add(new ScriptCall(RAISE, new byte[][] {RedisKeys.bytes(key)}, arguments));
            }
            for (Object reply : link.runAll(calls, settings.waitReplicas(), deadline)) {
                if (reply instanceof Exception failure) {
                    throw failure;
                }
                if (reply instanceof RedisLink.Acknowledged known && known.replicas() < settings.waitReplicas()) {
                    throw new TooFewReplicasException(known.replicas(), settings.waitReplicas());
                }
            }
            raised += next.size();
        }
    }

    private ScriptCall given(byte[]... more) {
        byte[][] arguments = new byte[1 + more.length][];
        arguments[0] = RedisKeys.bytes(Long.toString(floor.wanted()));
        System.arraycopy(more, 0, arguments, 1, more.length);
        return new ScriptCall(GIVEN, new byte[][] {RedisKeys.bytes(settings.prefix() + "given")}, arguments);
    }

    private long stored(ScriptCall call, Deadline deadline) throws Exception {
        String text = Replies.text(link.run(call, deadline));
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }
}
