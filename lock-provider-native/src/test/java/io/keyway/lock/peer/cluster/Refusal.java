// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import java.util.Arrays;
import java.util.function.IntFunction;

/** What {@code open} throws to an application that may not connect. */
final class Refusal {
    private static final int MOST_SECONDS = 100;

    private Refusal() {}

    /**
     * Opens until the refusal has those words in it. It comes at the end of the time for connecting, in which a busy
     * machine may not come as far as the proof: each attempt has twice the time of the one before.
     *
     * @param url of the time for connecting, in seconds
     * @param first the time of the first attempt
     */
    static String await(IntFunction<String> url, int first, String... words) {
        return await(url, ClientOptions.defaults(), first, words);
    }

    /** As above, of a client with those options. */
    static String await(IntFunction<String> url, ClientOptions options, int first, String... words) {
        int seconds = first;
        String told = of(url.apply(seconds), options);
        while (seconds * 2 <= MOST_SECONDS && !Arrays.stream(words).allMatch(told::contains)) {
            seconds *= 2;
            told = of(url.apply(seconds), options);
        }
        assertThat(told).as("told within %d s", seconds).contains(words);
        return told;
    }

    private static String of(String url, ClientOptions options) {
        LockUnavailableException refusal = assertThrows(
                LockUnavailableException.class,
                () -> Locks.open(LockUrl.parse(url), options).close());
        return String.valueOf(refusal.getMessage());
    }
}
