// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proves to the other end of a link that this end may talk, over a transcript that names the prover's role, both
 * nonces, both incarnations, the cluster, its settings and its member list. Immutable.
 */
public interface Authenticator {
    Mac prove(byte[] transcript);

    default boolean accepts(byte[] transcript, Mac mac) {
        return prove(transcript).equals(mac);
    }

    /** Whether this stands on something that both ends must know. */
    default boolean secret() {
        return false;
    }

    /**
     * Whoever answers the nonce is accepted: for transports that authenticate by themselves, or where everybody may
     * lock.
     */
    static Authenticator none() {
        return new Authenticator() {
            @Override
            public Mac prove(byte[] transcript) {
                try {
                    return new Mac(MessageDigest.getInstance("SHA-256").digest(transcript));
                } catch (GeneralSecurityException e) {
                    throw new IllegalStateException("every Java platform has SHA-256", e);
                }
            }

            @Override
            public String toString() {
                return "none";
            }
        };
    }

    /**
     * HMAC-SHA256 (RFC 2104) with a secret that both ends know and that never crosses the wire. Keeps a copy of the
     * secret.
     */
    static Authenticator sharedSecret(byte[] secret) {
        if (secret.length == 0) {
            throw new IllegalArgumentException("the shared secret is empty");
        }
        SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA256");
        return new Authenticator() {
            @Override
            public Mac prove(byte[] transcript) {
                try {
                    javax.crypto.Mac hmac = javax.crypto.Mac.getInstance("HmacSHA256");
                    hmac.init(key);
                    return new Mac(hmac.doFinal(transcript));
                } catch (GeneralSecurityException e) {
                    throw new IllegalStateException("every Java platform has HmacSHA256", e);
                }
            }

            @Override
            public boolean secret() {
                return true;
            }

            @Override
            public String toString() {
                return "shared secret";
            }
        };
    }
}
