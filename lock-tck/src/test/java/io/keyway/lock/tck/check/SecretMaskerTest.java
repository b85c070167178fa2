// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockUrl;
import org.junit.jupiter.api.Test;

class SecretMaskerTest {
    private static String clean(String url, String said) {
        return SecretMasker.of(LockUrl.parse(url)).text(said);
    }

    @Test
    void aPasswordIsTakenOutAsWrittenAndAsMeant() {
        String url = "lock:sample://me:p%40ss+word@h:1/x";
        assertThat(clean(url, "denied for p@ss+word, p%40ss+word")).isEqualTo("denied for ***, ***");
        assertThat(clean(url, "denied for me at h:1/x")).isEqualTo("denied for me at h:1/x");
    }

    @Test
    void soAreSecretOptionsAndWhatADriverIsGiven() {
        assertThat(clean("lock:sample://h?secret=hush-hush&ttl=3s", "ttl=3s secret hush-hush"))
                .isEqualTo("ttl=3s secret ***");
        assertThat(clean("lock:jdbc:postgresql://db/app?user=u&password=hush-hush", "auth hush-hush failed"))
                .isEqualTo("auth *** failed");
    }

    @Test
    void whatIsTooShortToBeASecretLeavesTheTextLegible() {
        assertThat(clean("lock:sample://h?secret=a", "a lease was lost")).isEqualTo("a lease was lost");
    }
}
