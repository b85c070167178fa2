// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What both ends of a session are configured with. Immutable; times in nanoseconds.
 *
 * @param cluster the cluster's id
 * @param settingsHash of all settings that the cluster must share: the algorithm, {@code maxTtl}, the number of shards
 * @param membersHash of the member list
 * @param settingsText those settings, for people; at most {@value #MAX_TOLD} bytes are told
 * @param membersText the member list, for people
 * @param algorithm the id of the cluster's algorithm
 * @param algorithmName its name, for people
 * @param maxTtl the longest lease of the cluster, and how long a session without a lease is kept
 * @param wireLow the oldest wire version spoken
 * @param wireHigh the newest one
 * @param proofTimeout how long a link may stay without proof, and the longest time that a client waits for a welcome
 * @param maxHalfOpen how many links may be without proof at once; for one more the oldest is hung up
 * @param tokenFloor what a client wants all tokens to exceed from its first session on; 0 for nothing
 */
public record SessionSettings(
        String cluster,
        long settingsHash,
        long membersHash,
        String settingsText,
        String membersText,
        int algorithm,
        String algorithmName,
        long maxTtl,
        int wireLow,
        int wireHigh,
        long proofTimeout,
        int maxHalfOpen,
        Authenticator authenticator,
        long tokenFloor) {
    /** The only wire version so far. */
    public static final int WIRE = 1;
    /** The most bytes of a cluster's id. */
    public static final int MAX_CLUSTER = 128;
    /** The most bytes of a node's id: a host name and a port. */
    public static final int MAX_NODE = 263;
    /** The most bytes of a value that a refusal shows. */
    public static final int MAX_TOLD = 400;

    private static final long SECOND = 1_000_000_000L;
    /** The clock rates of two machines differ by at most this many percent. */
    private static final long RATE_PERCENT = 1;

    public SessionSettings {
        if (maxTtl <= 0 || proofTimeout <= 0 || maxHalfOpen <= 0 || wireLow <= 0 || wireLow > wireHigh) {
            throw new IllegalArgumentException("maxTtl " + maxTtl + ", proofTimeout " + proofTimeout + ", maxHalfOpen "
                    + maxHalfOpen + ", wire " + wireLow + " to " + wireHigh + ": each must be positive and in order");
        }
        if (algorithm <= Bye.ALGORITHM || algorithm > 255) {
            throw new IllegalArgumentException("algorithm " + algorithm + ": 1 to 255; 0 is the session's own");
        }
        if (cluster.getBytes(StandardCharsets.UTF_8).length > MAX_CLUSTER) {
            throw new IllegalArgumentException("cluster " + cluster + ": more than " + MAX_CLUSTER + " bytes");
        }
    }

    /** Of an end that wants nothing of tokens. */
    public SessionSettings(
            String cluster,
            long settingsHash,
            long membersHash,
            String settingsText,
            String membersText,
            int algorithm,
            long maxTtl,
            int wireLow,
            int wireHigh,
            long proofTimeout,
            int maxHalfOpen,
            Authenticator authenticator) {
        this(
                cluster,
                settingsHash,
                membersHash,
                settingsText,
                membersText,
                algorithm,
                Integer.toString(algorithm),
                maxTtl,
                wireLow,
                wireHigh,
                proofTimeout,
                maxHalfOpen,
                authenticator,
                0);
    }

    /** The usual limits: five seconds to prove oneself, 256 links that have not. */
    public static SessionSettings of(
            String cluster,
            long settingsHash,
            long membersHash,
            int algorithm,
            long maxTtl,
            Authenticator authenticator) {
        return new SessionSettings(
                cluster,
                settingsHash,
                membersHash,
                hex(settingsHash),
                hex(membersHash),
                algorithm,
                maxTtl,
                WIRE,
                WIRE,
                5 * SECOND,
                256,
                authenticator);
    }

    /** The same, with words for what is compared by its hash: a refusal shows them. */
    public SessionSettings saying(String settings, String members) {
        return with(membersHash, told(settings), told(members), authenticator, tokenFloor);
    }

    /** The same, with the name of its algorithm: a refusal shows it. */
    public SessionSettings serving(String name) {
        return with(name, membersHash, settingsText, membersText, authenticator, tokenFloor);
    }

    /** The same, for a cluster with that list of members. */
    public SessionSettings among(long hash, String members) {
        return with(hash, settingsText, told(members), authenticator, tokenFloor);
    }

    private SessionSettings with(
            long members, String settingsSaid, String membersSaid, Authenticator proof, long floor) {
        return with(algorithmName, members, settingsSaid, membersSaid, proof, floor);
    }

    private SessionSettings with(
            String name, long members, String settingsSaid, String membersSaid, Authenticator proof, long floor) {
        return new SessionSettings(
                cluster,
                settingsHash,
                members,
                settingsSaid,
                membersSaid,
                algorithm,
                name,
                maxTtl,
                wireLow,
                wireHigh,
                proofTimeout,
                maxHalfOpen,
                proof,
                floor);
    }

    /** As many of these ids, with commas between, as a refusal can show. */
    static String told(List<String> members) {
        String text = "";
        for (String member : members) {
            String longer = text + (text.isEmpty() ? "" : ",") + member;
            if (longer.getBytes(StandardCharsets.UTF_8).length > MAX_TOLD) {
                return text;
            }
            text = longer;
        }
        return text;
    }

    private static String told(String text) {
        int end = text.length();
        while (text.substring(0, end).getBytes(StandardCharsets.UTF_8).length > MAX_TOLD) {
            end--;
        }
        return text.substring(0, end);
    }

    static String hex(long hash) {
        return Long.toHexString(hash);
    }

    /** The same, with another way to prove oneself. */
    public SessionSettings with(Authenticator other) {
        return with(membersHash, settingsText, membersText, other, tokenFloor);
    }

    /** The same, for a client that gives a floor of tokens. */
    public SessionSettings giving(long floor) {
        return with(membersHash, settingsText, membersText, authenticator, floor);
    }

    /** How long a member that forgot its leases must wait. */
    public long quarantine() {
        return quarantine(maxTtl);
    }

    /**
     * How long the longest lease of the slowest clock lasts on the fastest one, if clock rates differ by at most r = 1
     * %: maxTtl x (1 + r) / (1 - r), rounded up.
     *
     * @throws ArithmeticException if that is more than 292 years
     */
    public static long quarantine(long maxTtl) {
        long slow = 100 - RATE_PERCENT;
        long fast = 100 + RATE_PERCENT;
        return Math.addExact(Math.multiplyExact(maxTtl / slow, fast), (maxTtl % slow * fast + slow - 1) / slow);
    }
}
