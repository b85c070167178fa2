// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.cluster.ClusterMember;
import io.keyway.lock.peer.cluster.MemberConfig;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** `keyway member`: serves the locks of a cluster until it is told to end. */
@Command(
        name = "member",
        mixinStandardHelpOptions = true,
        description =
                "Runs a member of a cluster, whose locks clients find under lock:native://MEMBERS/NAME. The names are"
                        + " partitioned among the members, not replicated: while one is down, its names wait for its "
                        + "restart.")
final class MemberCommand implements Callable<Integer> {
    private static final String STANDARD = "lease";

    private final Console console;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            converter = Node.class,
            description = "Where to take connections.")
    private @Nullable NodeId listen;

    @Option(
            names = "--members",
            paramLabel = "HOST:PORT,...",
            converter = Members.class,
            description = "All members of the cluster, this one included; the same for each of them.")
    private @Nullable MemberList members;

    @Option(
            names = "--join",
            paramLabel = "HOST:PORT,...",
            converter = Members.class,
            description = "In place of --members: members of a cluster that works, to which this one is then added with"
                    + " keyway member add. Of failover and bakery.")
    private @Nullable MemberList join;

    @Option(
            names = "--node",
            paramLabel = "HOST:PORT",
            converter = Node.class,
            description = "Which of the members this is. Default: what --listen says.")
    private @Nullable NodeId node;

    @Option(
            names = "--cluster",
            paramLabel = "NAME",
            defaultValue = MemberConfig.CLUSTER,
            description = "The cluster's name, the path of the clients' URL. Default: ${DEFAULT-VALUE}.")
    private String cluster = MemberConfig.CLUSTER;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "The directory of this member alone. Default: ~/.local/state/keyway/member-PORT.")
    private @Nullable Path data;

    @Option(
            names = "--init",
            description =
                    "Says that this cluster has never run before, so that its very first start need not wait for old "
                            + "leases.")
    private boolean init;

    @Option(
            names = "--removed",
            paramLabel = "HOST:PORT",
            converter = Node.class,
            description =
                    "Says that this former member, which the list leaves out, has ended for good. May be repeated.")
    private List<NodeId> removed = List.of();

    @Option(
            names = "--max-ttl",
            paramLabel = "TIME",
            converter = MaxTtl.class,
            description =
                    "The longest lease of the cluster, and so the silence after a crash; all members and clients say "
                            + "the same. Default: 60s.")
    private Duration maxTtl = NativeOptions.MAX_TTL.defaultValue().orElseThrow();

    @Option(
            names = "--shards",
            paramLabel = "N",
            defaultValue = "" + MemberConfig.SHARDS,
            description = "Into how many parts each member divides its names, 1 to 64; all members say the same. With "
                    + "--algorithm failover each part has a leader of its own. Default: ${DEFAULT-VALUE}.")
    private int shards = MemberConfig.SHARDS;

    @Option(
            names = "--token-floor",
            paramLabel = "N",
            converter = TokenFloor.class,
            description =
                    "What all fencing tokens of this member are to exceed from this start on, for a cluster that takes "
                            + "the place of another store; all members say the same.")
    private long tokenFloor;

    @Option(
            names = "--algorithm",
            paramLabel = "NAME",
            defaultValue = STANDARD,
            description =
                    "What the members run, the protocol of the clients' URL (lock:native:NAME://): lease; failover,"
                            + " the same led by one member that the others elect; lamport, in whose clusters every"
                            + " member must answer; or bakery, where a majority of three elected"
                            + " leaders must. All members say the same. Default: ${DEFAULT-VALUE}.")
    private String algorithm = STANDARD;

    @Option(
            names = "--leaders",
            paramLabel = "N",
            description =
                    "How many members of a bakery lead: 1, 3 or 5. All members say the same, and change it together."
                            + " Default: 3.")
    private @Nullable Integer leaders;

    @Option(
            names = "--priority",
            paramLabel = "N",
            description =
                    "Which members of a bakery, or of failover, are elected: those of the smallest number, 1 to 14. 15"
                            + " leads only where nobody else is there. Default: 14.")
    private @Nullable Integer priority;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "The secret that all members and clients share. Default: the variable KEYWAY_SECRET.")
    private @Nullable Path secretFile;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "This member's certificate and those that lead to a root, PEM.")
    private @Nullable Path certificates;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "The key of that certificate, PEM, PKCS#8.")
    private @Nullable Path key;

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "The roots to trust, PEM. Default: those of the JDK.")
    private @Nullable Path authorities;

    @Option(names = "--tls-client-auth", description = "Demand a certificate of each client that connects.")
    private boolean clientCertificates;

    @Option(
            names = "--insecure",
            description =
                    "Listen on another address than the loopback one for everybody: without a secret, and without "
                            + "certificates of clients.")
    private boolean insecure;

    @Option(
            names = "--trace",
            description = "Record what happens from the start on, for keyway trace; keyway trace --off ends it.")
    private boolean trace;

    @Spec
    private @Nullable CommandSpec spec;

    MemberCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Signals signals = Signals.interrupting(Thread.currentThread());
        CountDownLatch failed = new CountDownLatch(1);
        try (ClusterMember member = start(failed::countDown)) {
            if (trace) {
                member.startTrace();
            }
            failed.await();
            if (member.isRemoved()) {
                console.say("this member was removed from its cluster, and has ended.");
                return ExitCode.OK;
            }
            throw new CommandException(
                    ExitCode.UNAVAILABLE, "the member has ended, since it cannot keep its promises; its log says why.");
        } catch (InterruptedException e) {
            if (signals.received() == 0) {
                throw new CommandException(ExitCode.UNAVAILABLE, "the member was interrupted.", e);
            }
            return ExitCode.OK;
        }
    }

    private ClusterMember start(Runnable ended) {
        MemberConfig config = config();
        try {
            if (leaders == null && priority == null) {
                return ClusterMember.start(config, algorithm, ended);
            }
            return ClusterMember.start(config, algorithm, number(leaders), number(priority), ended);
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, Failures.message(e), e);
        }
    }

    private static OptionalInt number(@Nullable Integer given) {
        return given == null ? OptionalInt.empty() : OptionalInt.of(given);
    }

    private MemberConfig config() {
        if (listen == null || (members == null && join == null)) {
            // Not demanded by picocli: its subcommands have neither.
            throw wrong("Missing required options: '--listen=HOST:PORT', '--members=HOST:PORT,...'");
        } else if (members != null && join != null) {
            throw wrong("--members is the list of a new cluster, or of one that was restarted, and --join is for one"
                    + " that works: say one of them");
        }
        MemberList others = members == null ? Objects.requireNonNull(join) : members;
        NodeId self = node == null ? listen : node;
        LogSetup.forMember(self.toString(), console.debug());
        if (members != null && !members.members().contains(self)) {
            throw new IllegalArgumentException("--members " + members + " does not have "
                    + (node == null ? "--listen " : "--node ") + self
                    + (node == null ? "; say with --node which of them this is" : ""));
        }
        return new MemberConfig(
                self,
                new InetSocketAddress(listen.host(), listen.port()),
                others,
                cluster,
                data == null
                        ? MemberConfig.defaultData(System.getProperty("user.home", ""), listen.port())
                        : data.toAbsolutePath(),
                init,
                Set.copyOf(removed),
                maxTtl,
                shards,
                Security.of(security()),
                tokenFloor,
                join != null);
    }

    private ParameterException wrong(String why) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
    }

    private SecuritySettings security() {
        return new SecuritySettings(
                console.variable("KEYWAY_SECRET"),
                Optional.ofNullable(secretFile),
                Optional.empty(),
                Optional.ofNullable(certificates),
                Optional.ofNullable(key),
                Optional.ofNullable(authorities),
                clientCertificates,
                insecure,
                Optional.empty(),
                MemberCommand::spelled);
    }

    /** Of a URL's option, as it is written here. */
    private static String spelled(String option) {
        return option.equals(NativeOptions.SECRET.name())
                ? "KEYWAY_SECRET"
                : "--" + option.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** What picocli makes of a text: a parser's own sentence becomes its message. */
    abstract static class Parsed<T> implements ITypeConverter<T> {
        private final Function<String, T> parser;

        Parsed(Function<String, T> parser) {
            this.parser = parser;
        }

        @Override
        public T convert(String text) {
            try {
                return parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }

    static final class Node extends Parsed<NodeId> {
        Node() {
            super(NodeId::parse);
        }
    }

    static final class Members extends Parsed<MemberList> {
        Members() {
            super(MemberList::parse);
        }
    }

    static final class TokenFloor extends Parsed<Long> {
        TokenFloor() {
            super(CommonOptions.TOKEN_FLOOR::parse);
        }
    }

    static final class MaxTtl extends Parsed<Duration> {
        MaxTtl() {
            super(NativeOptions.MAX_TTL::parse);
        }
    }
}
