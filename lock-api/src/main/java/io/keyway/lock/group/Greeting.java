// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How two processes meet: CHALLENGE, HELLO, and WELCOME or REFUSED. Each proves by the nonce of the other one that it
 * knows the secret. Without a secret the proofs are empty.
 */
final class Greeting {
    /** What any frame of a greeting has at the most, in bytes. */
    static final int LONGEST = 4096;
    /** How long the other one may think, in milliseconds. */
    static final int PATIENCE = 5_000;

    private static final String HMAC = "HmacSHA256";
    private static final int NONCE = 32;
    private static final byte VERSION = 1;
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Who wants to follow.
     *
     * @param candidate whether it stands itself; if not, it observes
     * @param proof by which whoever listens proves that it knows the secret
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    record Hello(String name, boolean candidate, byte[] proof) {}

    /** What two processes do not have in common, or one of them could not prove. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    private final String election;
    private final byte[] secret;

    Greeting(String election, byte[] secret) {
        this.election = election;
        this.secret = secret;
    }

    /** By whoever listens; the answer to it is the group's. */
    Hello hear(Link link) throws IOException {
        byte[] own = nonce();
        link.write(new Frame(Frame.Kind.CHALLENGE, VERSION, own));
        Frame frame = link.read(LONGEST, PATIENCE);
        if (frame.kind() != Frame.Kind.HELLO || frame.number() != VERSION) {
            throw new RefusedException("it does not speak as a process of a group of this version does");
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame.content()));
        String theirs = in.readUTF();
        String name = in.readUTF();
        boolean candidate = in.readBoolean();
        byte[] nonce = in.readNBytes(NONCE);
        byte[] proof = in.readAllBytes();
        if (!theirs.equals(election)) {
            throw new RefusedException("this is the election " + election + ", not " + theirs);
        }
        if (!MessageDigest.isEqual(proof, prove("follower", own, nonce, name, candidate))) {
            throw new RefusedException("the secrets of the two processes are not the same");
        }
        return new Hello(name, candidate, prove("leader", own, nonce, name, candidate));
    }

    /** By whoever dialled: the token of the leader, who is followed now. */
    long say(Link link, String name, boolean candidate) throws IOException {
        Frame challenge = link.read(LONGEST, PATIENCE);
        if (challenge.kind() != Frame.Kind.CHALLENGE || challenge.number() != VERSION) {
            throw new RefusedException("it does not speak as a process of a group of this version does");
        }
        byte[] own = nonce();
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(content);
        out.writeUTF(election);
        out.writeUTF(name);
        out.writeBoolean(candidate);
        out.write(own);
        out.write(prove("follower", challenge.content(), own, name, candidate));
        link.write(new Frame(Frame.Kind.HELLO, VERSION, content.toByteArray()));
        Frame answer = link.read(LONGEST, PATIENCE);
        if (answer.kind() != Frame.Kind.WELCOME) {
            throw new RefusedException(Text.of(answer.content()));
        }
        if (!MessageDigest.isEqual(answer.content(), prove("leader", challenge.content(), own, name, candidate))) {
            throw new RefusedException("the leader does not know the secret");
        }
        return answer.number();
    }

    private static byte[] nonce() {
        byte[] nonce = new byte[NONCE];
        RANDOM.nextBytes(nonce);
        return nonce;
    }

    private byte[] prove(String who, byte[] listening, byte[] dialling, String name, boolean candidate) {
        if (secret.length == 0) {
            return new byte[0];
        }
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(secret, HMAC));
            for (String each : new String[] {who, election, name, String.valueOf(candidate)}) {
                byte[] text = Text.bytes(each);
                mac.update((byte) (text.length >>> 8));
                mac.update((byte) text.length);
                mac.update(text);
            }
            mac.update(listening);
            return mac.doFinal(dialling);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a JDK has " + HMAC, e);
        }
    }
}
