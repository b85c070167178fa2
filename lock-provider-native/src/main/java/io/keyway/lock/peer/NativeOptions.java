// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.AddressMap;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;

/** The options of the native provider, beside the common ones. */
public final class NativeOptions {
    /** Whose time a {@code mem} world runs on. */
    public enum Clock {
        /** The machine's monotonic clock. */
        REAL,
        /** Time passes by {@link MemoryWorld#advance} only. */
        MANUAL
    }

    /** A switch. */
    public enum Switch {
        ON,
        OFF
    }

    /** Who hosts the member of this machine ({@code local}) if nobody does. */
    public enum Host {
        /** This process. */
        INPROCESS,
        /** A process of its own, which ends by itself after a minute without clients. */
        PROCESS,
        /** Nobody: without a host the client is not connected. */
        NONE
    }

    public static final Option<Clock> CLOCK = Option.choice("clock", Clock.class)
            .withDefault(Clock.REAL)
            .withDescription("the clock of a mem world: the machine's, or one that a test moves");

    public static final Option<Duration> MAX_TTL = Option.duration(
                    "maxTtl", Duration.ofMillis(100), Duration.ofHours(24))
            .withDefault(Duration.ofSeconds(60))
            .withDescription(
                    "the longest ttl that the members grant, and so how long they are silent after a crash; the same "
                            + "for all clients and members");

    public static final Option<Switch> CACHE = Option.choice("cache", Switch.class)
            .withDefault(Switch.ON)
            .withDescription("whether a released lock stays with this client until somebody else wants it");

    public static final Option<Duration> CACHE_FOR = Option.duration(
                    "cacheFor", Duration.ofMillis(1), Duration.ofHours(24))
            .withDefault(Duration.ofSeconds(30))
            .withDescription("how long an unused lock stays with this client");

    public static final Option<Integer> CACHE_SIZE = Option.number("cacheSize", 0, 1_000_000)
            .withDefault(1000)
            .withDescription("how many unused locks stay with this client at most");

    public static final Option<Switch> TREE = Option.choice("tree", Switch.class)
            .withDefault(Switch.OFF)
            .withDescription("whether every lock of this client is one of its name and of all names below it, as with"
                    + " lock:native:agent://");

    public static final Option<Host> HOST = Option.choice("host", Host.class)
            .withDefault(Host.INPROCESS)
            .withDescription(
                    "what serves the locks of this machine (local) if nothing does yet: this process, a process of its"
                            + " own, or none");

    /**
     * The byte of clients.lock of a process that must be dead too before this client counts as dead, such as a
     * supervisor.
     */
    public static final Option<Long> GUARD = Option.object("guard", Long.class)
            .withDefault(() -> 0L, "none")
            .withDescription(
                    "the byte of clients.lock of a process that works under this client's leases (local); with it, "
                            + "what works under a broken lock is stopped before the lock is somebody else's");

    public static final Option<Integer> SHARDS = Option.number("shards", 1, 64)
            .withDefault(1)
            .withDescription(
                    "into how many parts each member divides its names, to use more than one core; the same for all "
                            + "members");

    public static final Option<Integer> LEADERS = Option.number("leaders", 1, 5)
            .withDescription(
                    "how many members of a bakery lead, 1, 3 (the usual) or 5: of the member that this process hosts, "
                            + "and the same for all members");

    public static final Option<Integer> PRIORITY = Option.number("priority", 1, 15)
            .withDescription(
                    "which members of a bakery, or of failover, are elected, the smallest first, otherwise 14; 15: "
                            + "only where nobody else is there. Of the member that this process hosts");

    public static final Option<String> MEMBER = Option.text("member")
            .withDescription("the member of the list that this process hosts, while a client of this URL is open");

    public static final Option<String> DATA = Option.text("data")
            .withDescription(
                    "the directory of the hosted member alone; otherwise .local/state/keyway/member-<port> of this "
                            + "user");

    public static final Option<String> SECRET_FILE = Option.text("secretFile")
            .withDescription(
                    "file with the secret that all members and clients share; each proves that it knows it, and never "
                            + "sends it");

    public static final Option<String> SECRET = Option.text("secret")
            .withDescription(
                    "the shared secret itself; a file is better, since URLs end up in logs and lists of processes");

    public static final Option<Boolean> TLS = Option.flag("tls")
            .withDescription("whether connections use TLS; the other tls options and sslContext imply it");

    public static final Option<String> TLS_CERT = Option.text("tlsCert")
            .withDescription(
                    "PEM file with this end's certificate and those that lead to a root: for a member, and for a "
                            + "client of members with tlsClientAuth");

    public static final Option<String> TLS_KEY =
            Option.text("tlsKey").withDescription("PEM file with the key of tlsCert, PKCS#8 without a password");

    public static final Option<String> TLS_CA = Option.text("tlsCa")
            .withDescription("PEM file with the certificates to trust, in place of the JDK's trust store");

    public static final Option<Boolean> TLS_CLIENT_AUTH = Option.flag("tlsClientAuth")
            .withDescription("whether the member hosted here demands a certificate of each client that connects");

    public static final Option<Boolean> INSECURE = Option.flag("insecure")
            .withDescription("whether it is as it should be that there is neither a secret nor TLS");

    /** Certificates and trust from code, in place of the tls files. */
    public static final Option<SSLContext> SSL_CONTEXT = Option.object("sslContext", SSLContext.class)
            .withDescription("certificates and trust, in place of tlsCert, tlsKey and tlsCa");

    public static final Option<String> TRACE = Option.text("trace")
            .withDescription("the directory in which this client, and the member hosted here, write down their events"
                    + " for keyway trace");

    public static final Option<AddressMap> ADDRESS_MAP = AddressMap.OPTION;

    /** All of them. */
    public static final List<Option<?>> ALL = List.of(
            CLOCK,
            MAX_TTL,
            CACHE,
            CACHE_FOR,
            CACHE_SIZE,
            TREE,
            HOST,
            GUARD,
            SHARDS,
            LEADERS,
            PRIORITY,
            MEMBER,
            DATA,
            SECRET_FILE,
            SECRET,
            TLS,
            TLS_CERT,
            TLS_KEY,
            TLS_CA,
            TLS_CLIENT_AUTH,
            INSECURE,
            SSL_CONTEXT,
            TRACE,
            ADDRESS_MAP,
            CommonOptions.TOKEN_FLOOR);

    private NativeOptions() {}
}
