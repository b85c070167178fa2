// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link io.keyway.lock.Locks} knows of a provider. Named in {@code META-INF/services} and, on the module path, by
 * {@code provides}. Its public constructor takes nothing and does nothing.
 */
public interface LockProvider {
    /** {@return the words after {@code lock:} that it answers to; lower case} */
    Set<String> schemes();

    /**
     * {@return the words that may follow its scheme in a URL, as in {@code lock:scheme:word://}, and with which it
     * offers something else; lower case, in the order in which they are to be listed; mostly none}
     */
    default List<String> protocols() {
        return List.of();
    }

    /** {@return what it says about itself} */
    ProviderInfo info();

    /**
     * {@return what it will offer for that URL, without connecting}
     *
     * @param url the URL, with its options checked
     */
    Set<Feature> features(LockUrl url);

    /**
     * {@return who can share the locks of that URL, without connecting}
     *
     * @param url the URL, with its options checked
     */
    default Scope scope(LockUrl url) {
        return Scope.NETWORK;
    }

    /**
     * {@return the statements that prepare a store for locks, as text for whoever administers it, by the word with
     * which {@code keyway providers --ddl} asks for them; none where nothing has to be prepared}
     */
    default Map<String, String> ddl() {
        return Map.of();
    }

    /**
     * {@return the same for what that URL names, as a table of another name; empty where nothing has to be prepared}
     * Nothing is connected.
     *
     * @param url the URL, with its options checked
     */
    default Optional<String> ddl(LockUrl url) {
        return Optional.empty();
    }

    /**
     * {@return the URL of a place for a test that changes a store for good, on the same servers and with the same
     * rights as far as may be: its clients share neither locks nor tokens with those of the URL itself, and a client of
     * it has {@link Leftovers}. Another word names another place. Nothing is connected. Empty if there is no such place
     * (LK-610)}
     *
     * @param url the URL, with its options checked
     * @param word of the test, 13 letters and digits that no other test has
     */
    default Optional<LockUrl> testUrl(LockUrl url, String word) {
        return Optional.empty();
    }

    /**
     * Opens a client, mostly by {@link OpenRequest#over(LockBackend)} or {@link OpenRequest#over(LockEngine)}. The
     * URL's options have been checked against {@link ProviderInfo#options()} and the common ones.
     *
     * @param request the URL, the options, the clock and what a test put in between
     * @return the client, open
     * @throws io.keyway.lock.LockException if it cannot
     */
    LockClient open(OpenRequest request);
}
