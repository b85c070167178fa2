// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.tck.wrap.ForwardingClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Jars with a provider of {@code lock:odd://...}: the reference, with one defect written in by the test. */
public final class OddProviders {
    /** Where the defect goes. */
    record Defect(String construct, String open, String lock) {
        static Defect inConstructor(String code) {
            return new Defect(code, "", "");
        }

        static Defect inOpen(String code) {
            return new Defect("", code, "");
        }

        /** In tryAcquire; {@code name} is the lock's name. */
        static Defect inTryAcquire(String code) {
            return new Defect("", "", code);
        }
    }

    private static final String SOURCE = """
            package odd;
            import io.keyway.lock.*;
            import io.keyway.lock.spi.*;
            import io.keyway.lock.reference.ReferenceProvider;
            import io.keyway.lock.tck.wrap.*;
            import java.util.*;
            public final class Odd implements LockProvider {
                private final ReferenceProvider good = new ReferenceProvider();
                public Odd() { CONSTRUCT }
                public Set<String> schemes() { return Set.of("odd"); }
                public ProviderInfo info() {
                    return new ProviderInfo("odd", "0.9", good.info().apiLevel(), good.info().options());
                }
                public Set<Feature> features(LockUrl url) { return good.features(url); }
                public Scope scope(LockUrl url) { return Scope.JVM; }
                public LockClient open(OpenRequest request) {
                    OPEN
                    return new ForwardingClient(good.open(request)) {
                        @Override public DistributedLock lock(LockName name) { return new OddLock(to().lock(name)); }
                    };
                }
                private static final class OddLock extends ForwardingLock {
                    OddLock(DistributedLock to) { super(to); }
                    @Override protected DistributedLock around(DistributedLock other) { return new OddLock(other); }
                    @Override public Optional<Lease> tryAcquire() throws InterruptedException {
                        String name = name().value();
                        TRY
                        return super.tryAcquire();
                    }
                    @Override public Optional<Lease> tryAcquire(java.time.Duration wait) throws InterruptedException {
                        String name = name().value();
                        TRY
                        return super.tryAcquire(wait);
                    }
                }
            }
            """;

    private OddProviders() {}

    /** One that gives every client whatever it asks for. */
    public static Path thatGrantsToEverybody(Path directory) {
        return jar(
                directory,
                new Defect(
                        "",
                        "request = new OpenRequest(LockUrl.parse(\"lock:odd://w\" + System.nanoTime()), "
                                + "request.options(),"
                                + " request.loader(), request.time(), request.between());",
                        ""));
    }

    static Path jar(Path directory, Defect defect) {
        try {
            Path source = Files.createDirectories(directory.resolve("odd")).resolve("Odd.java");
            Files.writeString(
                    source,
                    SOURCE.replace("CONSTRUCT", defect.construct())
                            .replace("OPEN", defect.open())
                            .replace("TRY", defect.lock()));
            compile(source, directory);
            Path jar = Files.createDirectories(directory.resolve("jars")).resolve("odd.jar");
            try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
                putClasses(out, "odd/", directory.resolve("odd"));
                putPackage(out, ReferenceProvider.class);
                putPackage(out, ForwardingClient.class);
                out.putNextEntry(new JarEntry("META-INF/services/" + LockProvider.class.getName()));
                out.write("odd.Odd\n".getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
            return jar;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The odd ones stand on the reference store and on clients before it, which are in no jar of the TCK. */
    private static void putPackage(JarOutputStream out, Class<?> member) throws IOException {
        String folder = member.getPackageName().replace('.', '/') + '/';
        URI home = URI.create(
                member.getProtectionDomain().getCodeSource().getLocation().toString());
        Path found = Path.of(home);
        if (Files.isDirectory(found)) {
            putClasses(out, folder, found.resolve(folder));
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(found)) {
                putClasses(out, folder, jar.getPath(folder));
            }
        }
    }

    private static void putClasses(JarOutputStream out, String folder, Path from) throws IOException {
        try (Stream<Path> classes = Files.list(from)) {
            for (Path file :
                    classes.filter(each -> each.toString().endsWith(".class")).toList()) {
                out.putNextEntry(new JarEntry(folder + file.getFileName()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
    }

    private static void compile(Path source, Path directory) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            boolean compiled = compiler.getTask(
                            null,
                            files,
                            null,
                            List.of(
                                    "-proc:none",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    "-d",
                                    directory.toString()),
                            null,
                            files.getJavaFileObjects(source))
                    .call();
            if (!compiled) {
                throw new AssertionError("the odd provider does not compile");
            }
        }
    }
}
