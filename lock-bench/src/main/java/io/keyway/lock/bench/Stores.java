// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.hazelcast.core.server.HazelcastMemberStarter;
import io.keyway.lock.tck.proxy.Ports;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

/** Starts what the contenders of {@code native} keep their locks in, each for itself, on the loopback address. */
final class Stores {
    /** Of contenders, in the order of the table. */
    static final List<String> NAMES = List.of(
            "wire",
            "wire-quiet",
            "ping",
            "postgres",
            "redis",
            "redisson",
            "zookeeper",
            "curator",
            "zookeeper3",
            "curator3",
            "mem",
            "local",
            "member",
            "members3",
            "mem-off",
            "local-off",
            "member-off",
            "members3-off",
            "members3-all",
            "members3-majority",
            "member-async",
            "shard4-off",
            "tls",
            "tls-off",
            "lamport3",
            "lamport3-embedded",
            "bakery3",
            "failover3",
            "failover3-off");

    private static final String BEFORE = "-before";
    private static final String LOOPBACK = "127.0.0.1";
    private static final long START_NANOS = 30_000_000_000L;
    private static final int CONNECTIONS = 400;

    private final Ground ground;
    private final List<String> memberOptions;
    private final List<String> formerMemberOptions;
    private final @Nullable String formerJars;

    /**
     * @param memberOptions of the JVM of a member
     * @param formerMemberOptions the same of the Keyway of {@code formerJars}
     * @param formerJars the class path of another Keyway
     */
    Stores(Ground ground, List<String> memberOptions, List<String> formerMemberOptions, @Nullable String formerJars) {
        this.ground = ground;
        this.memberOptions = memberOptions;
        this.formerMemberOptions = formerMemberOptions;
        this.formerJars = formerJars;
    }

    /** Whether there is a Redis server to be started. */
    static boolean hasRedis() {
        return redisServer().isPresent();
    }

    /** Starts the store of that contender; empty if this machine has none. */
    Entrant.Store start(String name) throws IOException {
        boolean former = name.endsWith(BEFORE);
        String plain = former ? name.substring(0, name.length() - BEFORE.length()) : name;
        String classPath = former ? formerClients() : Program.classPath();
        String options = plain.matches(".*-(off|async|all|majority)") ? "cache=off" : "cache=on";
        String client = plain.matches(".*-(async|all|majority)") ? "keyway-" + plain.replaceFirst(".*-", "") : "keyway";
        return switch (plain.replaceFirst("-(off|async|all|majority)$", "")) {
            case "wire" -> wire("wire");
            case "wire-quiet" -> wire("wire-quiet");
            case "ping" -> wire("ping");
            case "postgres" -> postgres();
            case "redis" -> redis("keyway", "lock:redis://", classPath);
            case "redisson" -> redis("redisson", "", Program.classPath());
            case "zookeeper" -> zooKeeper("keyway", "lock:zookeeper://", "/keyway");
            case "curator" -> zooKeeper("curator", "", "");
            case "zookeeper3" -> ensemble("keyway", 3, "lock:zookeeper://", "/keyway");
            case "curator3" -> ensemble("curator", 3, "", "");
            case "mem" -> new Entrant.Store(client, "lock:native:mem://bench?" + options, "", classPath, List.of());
            case "local" -> local(client, options, classPath);
            case "member" -> members(client, 1, options, classPath, former, List.of());
            case "shard4" -> members(client, 1, options + "&shards=4", classPath, former, List.of("--shards", "4"));
            case "members3" -> members(client, 3, options, classPath, former, List.of());
            case "lamport3" -> together("lamport", 3, "", ground.directory("members"), classPath, former);
            case "bakery3" -> together("bakery", 3, "", ground.directory("members"), classPath, former);
            case "failover3" -> together("failover", 3, "&" + options, ground.directory("members"), classPath, former);
            case "lamport3-embedded" -> embedded(classPath, former);
            case "tls" -> withTls(client, options, classPath, former);
            default -> throw new IllegalArgumentException("no contender is called " + name + "; there are " + NAMES);
        };
    }

    private Entrant.Store wire(String kind) throws IOException {
        Program server = ground.program(
                kind, Program.java(List.of(), Program.classPath(), WireServer.class.getName()), Map.of());
        return new Entrant.Store(
                kind, server.read(), Long.toString(server.handle().pid()), Program.classPath(), List.of(server));
    }

    private Entrant.Store postgres() throws IOException {
        Path data = ground.directory("postgres");
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setServerConfig("max_connections", Integer.toString(CONNECTIONS))
                .start();
        ground.atEnd(() -> {
            try {
                server.close();
            } catch (IOException e) {
                throw new IllegalStateException("PostgreSQL does not end", e);
            }
        });
        String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0).trim();
        return new Entrant.Store(
                "postgres", server.getJdbcUrl("postgres", "postgres"), pid, Program.classPath(), List.of());
    }

    private Entrant.Store redis(String kind, String scheme, String classPath) throws IOException {
        int port = Ports.free();
        Program server = ground.program(
                "redis",
                List.of(
                        redisServer().orElseThrow(() -> new IOException("no redis-server is on the PATH")),
                        "--port",
                        Integer.toString(port),
                        "--bind",
                        LOOPBACK,
                        "--save",
                        "",
                        "--appendonly",
                        "no"),
                Map.of());
        awaitPort(port, server);
        return new Entrant.Store(
                kind,
                scheme + LOOPBACK + ":" + port,
                Long.toString(server.handle().pid()),
                classPath,
                List.of(server));
    }

    /** One server, with its files in the directory of temporary ones. */
    private Entrant.Store zooKeeper(String kind, String scheme, String path) throws IOException {
        int port = Ports.free();
        Program server = zooKeeperServer(
                ZooKeeperServerMain.class,
                Integer.toString(port),
                ground.directory("zookeeper").toString());
        awaitPort(port, server);
        return new Entrant.Store(
                kind,
                scheme + LOOPBACK + ":" + port + path,
                Long.toString(server.handle().pid()),
                Program.classPath(),
                List.of(server));
    }

    private Program zooKeeperServer(Class<?> main, String... arguments) throws IOException {
        List<String> command = Program.java(
                List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dzookeeper.admin.enableServer=false"),
                Program.classPath(),
                main.getName());
        command.addAll(List.of(arguments));
        return ground.program("zookeeper", command, Map.of());
    }

    /** Starts as many servers as one cluster of that contender; clients have no cache. */
    Entrant.Store cluster(String name, int size) throws IOException {
        return switch (name) {
            case "keyway" ->
                together("failover", size, "&cache=off", ground.directory("members"), Program.classPath(), false);
            case "curator" -> ensemble("curator", size, "", "");
            case "hazelcast" -> hazelcast(size);
            default -> throw new IllegalArgumentException("no contender with a cluster is called " + name);
        };
    }

    /** Members of the CP subsystem, all of them, with its defaults except for the time of a session. */
    private Entrant.Store hazelcast(int size) throws IOException {
        List<Integer> ports = freePorts(size);
        String all = addresses(ports);
        List<Program> programs = new ArrayList<>();
        for (int port : ports) {
            Path config = ground.directory("hazelcast").resolve("hazelcast.xml");
            Files.writeString(config, """
                    <hazelcast xmlns="http://www.hazelcast.com/schema/config">
                      <properties>
                        <property name="hazelcast.phone.home.enabled">false</property>
                      </properties>
                      <network>
                        <port auto-increment="false">%d</port>
                        <join>
                          <auto-detection enabled="false"/>
                          <multicast enabled="false"/>
                          <tcp-ip enabled="true"><member-list>%s</member-list></tcp-ip>
                        </join>
                        <interfaces enabled="true"><interface>127.0.0.1</interface></interfaces>
                      </network>
                      <cp-subsystem>
                        <cp-member-count>%d</cp-member-count>
                        <group-size>%d</group-size>
                        <session-time-to-live-seconds>10</session-time-to-live-seconds>
                        <session-heartbeat-interval-seconds>3</session-heartbeat-interval-seconds>
                      </cp-subsystem>
                    </hazelcast>
                    """.formatted(
                            port, "<member>" + all.replace(",", "</member><member>") + "</member>", size, size));
            programs.add(ground.program(
                    "hazelcast",
                    Program.java(
                            List.of("-Dhazelcast.config=" + config),
                            Program.classPath(),
                            HazelcastMemberStarter.class.getName()),
                    Map.of()));
        }
        for (int i = 0; i < size; i++) {
            awaitPort(ports.get(i), programs.get(i));
        }
        return new Entrant.Store("hazelcast", all, ids(programs), Program.classPath(), programs);
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            ports.add(Ports.free());
        }
        return ports;
    }

    private static String addresses(List<Integer> ports) {
        return String.join(
                ",", ports.stream().map(port -> LOOPBACK + ":" + port).toList());
    }

    /** Servers of one ensemble, with their files in the directory of temporary ones. */
    private Entrant.Store ensemble(String kind, int size, String scheme, String path) throws IOException {
        List<Integer> ports = freePorts(size);
        StringBuilder servers = new StringBuilder();
        for (int id = 1; id <= size; id++) {
            servers.append(
                    String.format(Locale.ROOT, "server.%d=%s:%d:%d%n", id, LOOPBACK, Ports.free(), Ports.free()));
        }
        List<Program> programs = new ArrayList<>();
        for (int id = 1; id <= size; id++) {
            Path data = ground.directory("zookeeper");
            Files.writeString(data.resolve("myid"), Integer.toString(id));
            Path config = data.resolve("zoo.cfg");
            Files.writeString(
                    config,
                    "tickTime=2000\ninitLimit=10\nsyncLimit=5\nclientPortAddress=" + LOOPBACK + "\nclientPort="
                            + ports.get(id - 1) + "\ndataDir=" + data + "\n" + servers);
            programs.add(zooKeeperServer(QuorumPeerMain.class, config.toString()));
        }
        for (int i = 0; i < size; i++) {
            awaitPort(ports.get(i), programs.get(i));
        }
        return new Entrant.Store(kind, scheme + addresses(ports) + path, ids(programs), Program.classPath(), programs);
    }

    private static Optional<String> redisServer() {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .map(directory -> Path.of(directory, "redis-server"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    /** The host is a process of its own, which the first client starts. */
    private Entrant.Store local(String client, String options, String classPath) throws IOException {
        String directory = ground.directory("local").toRealPath().toString();
        ground.atEnd(() -> hosts(directory).forEach(Program::end));
        return new Entrant.Store(
                client,
                "lock:native:local://" + directory + "?host=process&connect=eager&" + options,
                directory,
                classPath,
                List.of());
    }

    /** The process that hosts that directory, which is nobody's child; none if nobody does. */
    static List<ProcessHandle> hosts(String directory) {
        try (Stream<String> lines = Files.lines(Path.of(directory, "host.info"))) {
            return lines.filter(line -> line.startsWith("pid="))
                    .flatMap(line -> ProcessHandle.of(Long.parseLong(line.substring("pid=".length()))).stream())
                    .filter(host -> host.info().command().orElse("").endsWith("java"))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }

    private Entrant.Store withTls(String client, String options, String classPath, boolean former) throws IOException {
        Certificate made = Certificate.make(ground.directory("tls"));
        String certificate = made.certificate().toString();
        return members(
                client,
                1,
                options + "&tlsCa=" + certificate,
                classPath,
                former,
                List.of("--tls-cert", certificate, "--tls-key", made.key().toString()));
    }

    /** Members of an algorithm that has them talk to each other. */
    private Entrant.Store together(
            String algorithm, int count, String options, Path directory, String classPath, boolean former)
            throws IOException {
        List<String> arguments = List.of("--algorithm", algorithm, "--shards", "1");
        Entrant.Store store = members(directory, "keyway", count, "shards=1" + options, classPath, former, arguments);
        String address = store.address().replace("lock:native:", "lock:native:" + algorithm + ":");
        return new Entrant.Store(store.kind(), address, store.servers(), classPath, store.programs());
    }

    /** The same; the last of them goes on in the process of its clients. */
    private Entrant.Store embedded(String classPath, boolean former) throws IOException {
        Path directory = ground.directory("members");
        Entrant.Store store = together("lamport", 3, "", directory, classPath, former);
        List<Program> others = store.programs().subList(0, 2);
        store.programs().get(2).close();
        String member = store.address().replaceFirst("/keyway.*", "").replaceFirst(".*,", "");
        String hosted = "&member=" + member + "&data=" + data(directory, member);
        return new Entrant.Store(store.kind(), store.address() + hosted, ids(others), classPath, others);
    }

    private Entrant.Store members(
            String client, int count, String options, String classPath, boolean former, List<String> arguments)
            throws IOException {
        return members(ground.directory("members"), client, count, options, classPath, former, arguments);
    }

    private static String data(Path directory, String member) {
        return directory.resolve(member.replace(':', '-')).toString();
    }

    private static String ids(List<Program> members) {
        return String.join(
                ",",
                members.stream()
                        .map(member -> Long.toString(member.handle().pid()))
                        .toList());
    }

    /** Members as {@code keyway member} runs them. */
    private Entrant.Store members(
            Path directory,
            String client,
            int count,
            String options,
            String classPath,
            boolean former,
            List<String> arguments)
            throws IOException {
        List<Integer> ports = freePorts(count);
        String list = addresses(ports);
        List<Program> members = new ArrayList<>();
        for (int port : ports) {
            List<String> command = Program.java(
                    former ? formerMemberOptions : memberOptions,
                    former ? formerJars() : Program.classPath(),
                    "io.keyway.lock.cli.Main",
                    "member",
                    "--listen",
                    LOOPBACK + ":" + port,
                    "--members",
                    list,
                    "--init",
                    "--data",
                    data(directory, LOOPBACK + ":" + port));
            command.addAll(arguments);
            members.add(ground.program("member", command, Map.of()));
        }
        for (int i = 0; i < count; i++) {
            awaitPort(ports.get(i), members.get(i));
        }
        return new Entrant.Store(
                client, "lock:native://" + list + "/keyway?connect=eager&" + options, ids(members), classPath, members);
    }

    private String formerJars() {
        if (formerJars == null) {
            throw new IllegalArgumentException("a contender of before needs --before");
        }
        List<String> entries = new ArrayList<>();
        for (String entry : formerJars.split(File.pathSeparator, -1)) {
            Path path = Path.of(entry).toAbsolutePath();
            String[] jars = path.toFile().list((folder, file) -> file.endsWith(".jar"));
            entries.add(
                    jars == null || jars.length == 0
                            ? path.toString()
                            : path.resolve("*").toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    /** Those jars, and of what is here only the comparison itself. */
    private String formerClients() {
        List<String> entries = new ArrayList<>(List.of(formerJars()));
        for (Class<?> type : List.of(Runner.class, Histogram.class)) {
            entries.add(Path.of(URI.create(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toString()))
                    .toString());
        }
        return String.join(File.pathSeparator, entries);
    }

    private static void awaitPort(int port, Program server) throws IOException {
        long end = System.nanoTime() + START_NANOS;
        while (true) {
            try {
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                return;
            } catch (IOException e) {
                if (!server.isAlive() || System.nanoTime() - end > 0) {
                    throw server.failed(String.format(Locale.ROOT, "nobody listens on port %d", port));
                }
                LockSupport.parkNanos(20_000_000);
            }
        }
    }
}
