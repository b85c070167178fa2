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

    private static final RedisScript GIVEN = RedisScript.of("given");
    private static final RedisScript RAISE = RedisScript.of("raise");
    private static final RedisScript FORGET = RedisScript.of("forget");
    private static final byte[] REMEMBER = {'1'};
    /** Of one exchange, so that none is larger than what is read meanwhile. */
    private static final int AT_ONCE = 512;

    private final RedisLink link;
    private final String prefix;
    private final int waitReplicas;
    private final TokenFloor floor;

    /** So many floor keys have the lift; a start that ran out of time is gone on with by the next. */
    private int raised;

    TokenFloorWriter(RedisLink link, RedisSettings settings, TokenFloor floor) {
        this.link = link;
        this.prefix = settings.get(RedisOptions.PREFIX);
        this.waitReplicas = settings.get(RedisOptions.WAIT_REPLICAS);
        this.floor = floor;
    }

    /**
     * Returns when the store has it; throws {@link io.keyway.lock.InvalidLockUrlException} if the store has a higher
     * one.
     */
    void give(ScriptCodec codec, Deadline deadline) throws Exception {
        long lift = ScriptCodec.liftOver(floor.wanted());
        if (floor.isAbove(stored(given(), deadline))) {
            raise(lift, deadline);
            boolean unused = floor.isAbove(stored(given(REMEMBER), deadline));
        }
        codec.learnLift(lift);
    }

    /** Removes all keys of that prefix that do not end by themselves: floors of tokens, and what was given. */
    static void remove(RedisLink link, String prefix, Deadline deadline) throws Exception {
        List<String> keys = new ArrayList<>(link.floorKeys(prefix));
        keys.add(given(prefix));
        for (int from = 0; from < keys.size(); from += AT_ONCE) {
            List<String> next = keys.subList(from, Math.min(keys.size(), from + AT_ONCE));
            run(link, next, FORGET, new byte[0][], 0, deadline);
        }
    }

    private void raise(long lift, Deadline deadline) throws Exception {
        List<String> keys = link.floorKeys(prefix);
        byte[][] arguments = {ScriptCodec.tokenNumber(lift)};
        while (raised < keys.size()) {
            List<String> next = keys.subList(raised, Math.min(keys.size(), raised + AT_ONCE));
            run(link, next, RAISE, arguments, waitReplicas, deadline);
            raised += next.size();
        }
    }

    private static void run(
            RedisLink link,
            List<String> keys,
            RedisScript script,
            byte[][] arguments,
            int waitReplicas,
            Deadline deadline)
            throws Exception {
        List<RedisScript.Call> calls = new ArrayList<>(keys.size());
        for (String key : keys) {
            calls.add(new RedisScript.Call(script, new byte[][] {ScriptCodec.bytes(key)}, arguments));
        }
        for (Object reply : link.runAll(calls, waitReplicas, deadline)) {
            if (reply instanceof Exception failure) {
                throw failure;
            }
            if (reply instanceof RedisLink.Acknowledged known && known.replicas() < waitReplicas) {
                throw new TooFewReplicasException(known.replicas(), waitReplicas);
            }
        }
    }

    private static String given(String prefix) {
        return prefix + "given";
    }

    private RedisScript.Call given(byte[]... more) {
        byte[][] arguments = new byte[1 + more.length][];
        arguments[0] = ScriptCodec.bytes(Long.toString(floor.wanted()));
        System.arraycopy(more, 0, arguments, 1, more.length);
        return new RedisScript.Call(GIVEN, new byte[][] {ScriptCodec.bytes(given(prefix))}, arguments);
    }

    private long stored(RedisScript.Call call, Deadline deadline) throws Exception {
        String text = ScriptCodec.text(link.run(call, deadline));
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }
}
