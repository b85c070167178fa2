// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is to be held. Each field may be left open: then the client's options decide, else the URL, else the
 * default. Immutable; the {@code with} methods return changed copies.
 *
 * <pre>{@code
 * DistributedLock nightly = client.lock("jobs/nightly")
 *         .with(LockOptions.none().withTtl(Duration.ofSeconds(30)).withMaxHold(Duration.ofHours(2)));
 * }</pre>
 *
 * <p>The ttl detects a crash, {@code maxHold} ends a hang: they are two settings. A lease is renewed while its process
 * lives, so that few locks need a long ttl. Rule LK-207.
 */
public final class LockOptions {
    /** The shortest ttl of any provider. */
    public static final Duration MIN_TTL = Duration.ofMillis(100);

    /** The longest ttl of any provider. */
    public static final Duration MAX_TTL = Duration.ofHours(24);

    /** The most bytes of UTF-8 in all keys and values of the metadata. */
    public static final int MAX_METADATA_BYTES = 1024;

    private static final LockOptions NONE = new LockOptions(null, null, null, null, null, null, null);

    private final @Nullable Duration ttl;
    private final @Nullable Duration maxHold;
    private final @Nullable Duration unlockTime;
    private final @Nullable Renewal renewal;
    private final @Nullable Map<String, String> metadata;
    private final @Nullable Duration warnAfter;
    private final @Nullable Duration holdAtLeast;

    private LockOptions(
            @Nullable Duration ttl,
            @Nullable Duration maxHold,
            @Nullable Duration unlockTime,
            @Nullable Renewal renewal,
            @Nullable Map<String, String> metadata,
            @Nullable Duration warnAfter,
            @Nullable Duration holdAtLeast) {
        this.ttl = ttl;
        this.maxHold = maxHold;
        this.unlockTime = unlockTime;
        this.renewal = renewal;
        this.metadata = metadata;
        this.warnAfter = warnAfter;
        this.holdAtLeast = holdAtLeast;
    }

    /** {@return options that leave every field open} */
    public static LockOptions none() {
        return NONE;
    }

    /**
     * Sets how long after the last renewal the authority keeps the lock for a holder that is silent.
     *
     * @param ttl 100ms to 24h
     * @return a copy with that ttl
     * @throws IllegalArgumentException outside 100ms to 24h; the provider may narrow this when a lock is made with it
     */
    public LockOptions withTtl(Duration ttl) {
        if (ttl.compareTo(MIN_TTL) < 0 || ttl.compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException("ttl " + Durations.format(ttl) + " is outside "
                    + Durations.format(MIN_TTL) + " to " + Durations.format(MAX_TTL));
        }
        return new LockOptions(ttl, maxHold, unlockTime, renewal, metadata, warnAfter, holdAtLeast);
    }

    /**
     * Sets after what time the lease ends however well it is renewed: it is LOST then with
     * {@link LeaseLoss.Cause#MAX_HOLD}.
     *
     * @param maxHold more than zero; a century and more is no end
     * @return a copy with that end
     * @throws IllegalArgumentException if not positive
     */
    public LockOptions withMaxHold(Duration maxHold) {
        return new LockOptions(ttl, positive("maxHold", maxHold), null, renewal, metadata, warnAfter, holdAtLeast);
    }

    /**
     * As {@link #withMaxHold(Duration)}, with a word before the end: listeners are told {@link
     * LockEvent.Type#UNLOCKING} so long before it, which is the holder's time to stop its work and release. What is not
     * released by then is LOST as above. The source of the bakery (snaplock) calls them duration and unlockDuration.
     *
     * @param maxHold more than zero
     * @param unlockTime more than zero, shorter than {@code maxHold}
     * @return a copy with that end
     * @throws IllegalArgumentException if not positive, or if {@code unlockTime} is no shorter than {@code maxHold}
     */
    public LockOptions withMaxHold(Duration maxHold, Duration unlockTime) {
        if (positive("unlockTime", unlockTime).compareTo(positive("maxHold", maxHold)) >= 0) {
            throw new IllegalArgumentException("unlockTime " + Durations.format(unlockTime)
                    + " is no shorter than maxHold " + Durations.format(maxHold)
                    + ": it is the last part of that, in which the holder is to stop");
        }
        return new LockOptions(ttl, maxHold, unlockTime, renewal, metadata, warnAfter, holdAtLeast);
    }

    /**
     * Sets whether the lease is renewed.
     *
     * @param renewal AUTO or NONE
     * @return a copy that says so
     */
    public LockOptions withRenewal(Renewal renewal) {
        return new LockOptions(
                ttl, maxHold, unlockTime, Objects.requireNonNull(renewal, "renewal"), metadata, warnAfter, holdAtLeast);
    }

    /**
     * Sets what others see of this holder in {@link LockStatus}; it is no place for secrets.
     *
     * @param metadata at most 1024 bytes of UTF-8 in all
     * @return a copy with that metadata
     * @throws IllegalArgumentException if a key is empty or all together are longer than 1024 bytes of UTF-8
     */
    public LockOptions withMetadata(Map<String, String> metadata) {
        Map<String, String> copy = Map.copyOf(metadata);
        int bytes = 0;
        for (Map.Entry<String, String> entry : copy.entrySet()) {
            if (entry.getKey().isEmpty()) {
                throw new IllegalArgumentException("metadata has an empty key");
            }
            bytes += entry.getKey().getBytes(StandardCharsets.UTF_8).length
                    + entry.getValue().getBytes(StandardCharsets.UTF_8).length;
        }
        if (bytes > MAX_METADATA_BYTES) {
            throw new IllegalArgumentException(
                    "metadata is " + bytes + " bytes long in UTF-8, more than " + MAX_METADATA_BYTES);
        }
        return new LockOptions(ttl, maxHold, unlockTime, renewal, copy, warnAfter, holdAtLeast);
    }

    /**
     * Sets after what time a lease that is still held is reported, once, with the stack of its acquirer, to find a
     * release that was forgotten. It ends nothing.
     *
     * @param warnAfter more than zero
     * @return a copy with that time
     * @throws IllegalArgumentException if not positive
     */
    public LockOptions withWarnAfter(Duration warnAfter) {
        return new LockOptions(
                ttl, maxHold, unlockTime, renewal, metadata, positive("warnAfter", warnAfter), holdAtLeast);
    }

    /**
     * Sets how long after its grant the store keeps the lock from others at the least, also after its release, its loss
     * or the death of its holder; only a break ends it sooner. So that a short job which several machines start at
     * about the same time runs once. The store counts, from when it grants.
     *
     * <p>Needs {@link Feature#HOLD_AT_LEAST}: a lock with it at a provider without throws
     * {@link UnsupportedFeatureException}. A lease with it is never served from a cache.
     *
     * @param holdAtLeast more than zero, at most 24h
     * @return a copy with that time
     * @throws IllegalArgumentException if not positive or more than 24h; the provider may narrow this when a lock is
     *     made with it
     */
    public LockOptions withHoldAtLeast(Duration holdAtLeast) {
        if (positive("holdAtLeast", holdAtLeast).compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException(
                    "holdAtLeast " + Durations.format(holdAtLeast) + " is longer than " + Durations.format(MAX_TTL));
        }
        return new LockOptions(ttl, maxHold, unlockTime, renewal, metadata, warnAfter, holdAtLeast);
    }

    /**
     * {@return these options with the fields that {@code upper} sets laid over them}
     *
     * @param upper what wins
     */
    public LockOptions overlaidBy(LockOptions upper) {
        if (upper.equals(NONE)) {
            return this;
        }
        return new LockOptions(
                upper.ttl != null ? upper.ttl : ttl,
                upper.maxHold != null ? upper.maxHold : maxHold,
                upper.maxHold != null ? upper.unlockTime : unlockTime,
                upper.renewal != null ? upper.renewal : renewal,
                upper.metadata != null ? upper.metadata : metadata,
                upper.warnAfter != null ? upper.warnAfter : warnAfter,
                upper.holdAtLeast != null ? upper.holdAtLeast : holdAtLeast);
    }

    /** {@return the ttl, if set} */
    public Optional<Duration> ttl() {
        return Optional.ofNullable(ttl);
    }

    /** {@return the hard end, if set} */
    public Optional<Duration> maxHold() {
        return Optional.ofNullable(maxHold);
    }

    /** {@return how long before the hard end its holder is told, if set} */
    public Optional<Duration> unlockTime() {
        return Optional.ofNullable(unlockTime);
    }

    /** {@return whether to renew, if set} */
    public Optional<Renewal> renewal() {
        return Optional.ofNullable(renewal);
    }

    /** {@return the metadata, if set; unmodifiable} */
    public Optional<Map<String, String>> metadata() {
        return Optional.ofNullable(metadata);
    }

    /** {@return the time after which a held lease is reported, if set} */
    public Optional<Duration> warnAfter() {
        return Optional.ofNullable(warnAfter);
    }

    /** {@return how long the store keeps the lock from others at the least, if set} */
    public Optional<Duration> holdAtLeast() {
        return Optional.ofNullable(holdAtLeast);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions o
                && Objects.equals(ttl, o.ttl)
                && Objects.equals(maxHold, o.maxHold)
                && Objects.equals(unlockTime, o.unlockTime)
                && renewal == o.renewal
                && Objects.equals(metadata, o.metadata)
                && Objects.equals(warnAfter, o.warnAfter)
                && Objects.equals(holdAtLeast, o.holdAtLeast);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ttl, maxHold, unlockTime, renewal, metadata, warnAfter, holdAtLeast);
    }

    /** Returns the fields that are set. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("LockOptions{");
        append(out, "ttl", ttl == null ? null : Durations.format(ttl));
        append(out, "maxHold", maxHold == null ? null : Durations.format(maxHold));
        append(out, "unlockTime", unlockTime == null ? null : Durations.format(unlockTime));
        append(out, "renewal", renewal);
        append(out, "metadata", metadata);
        append(out, "warnAfter", warnAfter == null ? null : Durations.format(warnAfter));
        append(out, "holdAtLeast", holdAtLeast == null ? null : Durations.format(holdAtLeast));
        return out.append('}').toString();
    }

    private static void append(StringBuilder out, String field, @Nullable Object value) {
        if (value != null) {
            out.append(out.charAt(out.length() - 1) == '{' ? "" : ", ")
                    .append(field)
                    .append('=')
                    .append(value);
        }
    }

    private static Duration positive(String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(what + " must be positive, not " + value);
        }
        return value;
    }
}
