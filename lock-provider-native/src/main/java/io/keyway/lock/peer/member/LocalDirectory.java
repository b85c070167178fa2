// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.os.ByteLocks;
import io.keyway.lock.peer.os.FileSystemKind;
import io.keyway.lock.peer.os.LockFile;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.SmallFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which the processes of one user on one machine meet: where it is, and whether it is fit for that.
 */
public final class LocalDirectory {
    private static final Logger LOGGER = LoggerFactory.getLogger(LocalDirectory.class);
    public static final String CLIENTS = "clients.lock";
    public static final String MEMBER = "member";
    public static final String LOG = "host.log";
    public static final String VARIABLE = "KEYWAY_DIR";

    private static final String PROBE = ".probe";
    private static final List<Path> MACHINE_IDS =
            List.of(Path.of("/etc/machine-id"), Path.of("/var/lib/dbus/machine-id"));
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private final Path path;

    private LocalDirectory(Path path) {
        this.path = path;
    }

    /**
     * Says which directory a URL means: its path, else KEYWAY_DIR, else one of this user and machine.
     *
     * @param urlPath the URL's path, decoded; empty if it has none
     * @param environment of the process
     * @param home the property user.home
     * @throws InvalidLockUrlException if the path is not absolute
     * @throws io.keyway.lock.LockUnavailableException if KEYWAY_DIR is not absolute, or there is no home directory
     */
    public static Path choose(Optional<String> urlPath, Map<String, String> environment, String home) {
        if (urlPath.isPresent()) {
            Path path = parse(urlPath.get());
            if (!path.isAbsolute()) {
                throw new InvalidLockUrlException("The directory '" + urlPath.get()
                        + "' in the URL is not absolute; write lock:native:local:///path/of/directory");
            }
            return path;
        }
        String variable = environment.getOrDefault(VARIABLE, "");
        if (!variable.isEmpty()) {
            Path path = parse(variable);
            if (!path.isAbsolute()) {
                throw LockFile.unavailable(VARIABLE + " is '" + variable + "', which is not an absolute path", null);
            }
            return path;
        }
        Path base = home.isEmpty() ? Path.of("") : parse(home);
        if (!base.isAbsolute()) {
            throw LockFile.unavailable(
                    "This user has no home directory (user.home is '" + home + "'); set " + VARIABLE
                            + " to a directory, or name one in the URL: lock:native:local:///path/of/directory",
                    null);
        }
        return base.resolve(".local/state/keyway").resolve(machineId(MACHINE_IDS));
    }

    /**
     * Removes a directory of which no client is left, with all that is in it. A host that is a process of its own ends
     * when it finds {@link #CLIENTS} gone, and may write a file again before it does.
     *
     * @param limit how long that may take
     * @throws IOException if something may be left
     */
    public static void remove(Path directory, Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        Files.deleteIfExists(directory.resolve(CLIENTS));
        while (Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            } catch (DirectoryNotEmptyException | UncheckedIOException | NoSuchFileException e) {
                if (System.nanoTime() - end > 0) {
                    throw new IOException("files are written in " + directory + " all the time", e);
                }
                LockSupport.parkNanos(PATIENCE_NANOS / 100);
            }
        }
    }

    private static Path parse(String text) {
        if (text.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidLockUrlException("The name of the lock directory has a control character in it");
        }
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new InvalidLockUrlException("'" + text + "' is not a path: " + e.getReason(), e);
        }
    }

    /**
     * A digest of the machine's id, which is not to be shown as it is; homes that several machines share differ by it.
     */
    static String machineId(List<Path> files) {
        for (Path file : files) {
            String id = firstLine(file);
            if (!id.isEmpty()) {
                return digest("keyway " + id);
            }
        }
        return "this-machine";
    }

    private static String firstLine(Path file) {
        try {
            return SmallFiles.of(file).stream().findFirst().orElse("").trim();
        } catch (IOException e) {
            return "";
        }
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java platform has it
        }
    }

    /**
     * Makes the directory if it is missing and checks that it is fit: ours alone, local, no symbolic link, writable.
     *
     * @throws io.keyway.lock.LockUnavailableException with the reason if it is not
     */
    public static LocalDirectory open(Path path, MachineFacts facts) {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            throw unfit(path, "this system has no POSIX files; local mode needs Linux, macOS or another Unix", null);
        }
        try {
            make(path, facts);
            if (Files.isSymbolicLink(path)) {
                throw unfit(
                        path,
                        "it is a symbolic link to " + Files.readSymbolicLink(path) + "; name the directory itself",
                        null);
            }
            if (!Files.isDirectory(path)) {
                throw unfit(path, "it is not a directory", null);
            }
            Path real = path.toRealPath();
            checkFileSystem(real, facts);
            checkOwner(real);
            checkMode(real);
            return new LocalDirectory(real);
        } catch (IOException e) {
            throw unfit(path, reason(e), e);
        }
    }

    private static void checkFileSystem(Path path, MachineFacts facts) {
        String type;
        try {
            type = facts.fileSystemType(path);
        } catch (IOException e) {
            throw unfit(path, "it may be on a network file system: this system does not say which (" + e + ")", e);
        }
        FileSystemKind kind = FileSystemKind.of(type);
        if (kind == FileSystemKind.UNKNOWN) {
            LOGGER.warn(
                    "{} is on a file system of type {}, which keyway does not know: if other machines use it too, their"
                            + " processes do not exclude those of this one; then name a directory on a local disk in "
                            + "{} or in the URL",
                    path,
                    type,
                    VARIABLE);
        }
        if (kind == FileSystemKind.NETWORK) {
            throw unfit(
                    path,
                    "it is on a " + type
                            + " file system, which other machines may use too; name a directory on a local disk in "
                            + VARIABLE + " or in the URL",
                    null);
        }
    }

    private static void make(Path path, MachineFacts facts) throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        List<Path> missing = new ArrayList<>();
        for (Path each = path; each != null && !Files.exists(each); each = each.getParent()) {
            missing.add(each);
        }
        Path parent = path.getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        try {
            Files.createDirectory(
                    path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            return; // another process was faster
        }
        for (Path each : missing) {
            facts.forceName(each);
        }
    }

    /** A file made here shows who we are, and that there is room; a directory in use serves on with a full disk. */
    private static void checkOwner(Path path) throws IOException {
        UserPrincipal we;
        try {
            Path probe = Files.createTempFile(path, PROBE, "");
            try {
                we = Files.getOwner(probe);
                if (!Files.exists(path.resolve(CLIENTS))) {
                    Files.write(probe, new byte[MemberSlot.SIZE]);
                }
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (AccessDeniedException e) {
            String us = System.getProperty("user.name", "");
            if (!Files.getOwner(path).getName().equals(us)) {
                throw strangers(path, us);
            }
            throw e;
        } catch (FileSystemException e) {
            if (Files.isWritable(path.resolve(CLIENTS))) {
                return;
            }
            throw e;
        }
        if (!Files.getOwner(path).equals(we)) {
            throw strangers(path, we.getName());
        }
    }

    private static LockUnavailableException strangers(Path path, String us) throws IOException {
        return unfit(
                path,
                "it belongs to user " + Files.getOwner(path).getName() + " and this process runs as " + us
                        + "; the locks of one directory are one user's: name another directory in " + VARIABLE
                        + " or in the URL, or let both users lock at a member: keyway member, and"
                        + " lock:native://127.0.0.1:7400/keyway as the URL",
                null);
    }

    private static void checkMode(Path path) throws IOException {
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
        if (!mode.contains(PosixFilePermission.GROUP_WRITE) && !mode.contains(PosixFilePermission.OTHERS_WRITE)) {
            return;
        }
        boolean empty;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            empty = !entries.iterator().hasNext();
        }
        if (!empty) {
            throw unfit(path, "other users may write to it; say: chmod 700 '" + path + "'", null);
        }
        Files.setPosixFilePermissions(
                path,
                EnumSet.of(
                        PosixFilePermission.OWNER_READ,
                        PosixFilePermission.OWNER_WRITE,
                        PosixFilePermission.OWNER_EXECUTE));
    }

    /** What went wrong in the operating system's words, without the names of Java's classes. */
    private static String reason(IOException e) {
        if (e instanceof AccessDeniedException denied) {
            return "this user may not write to " + named(denied)
                    + "; choose another one in the URL (lock:native:local:///DIRECTORY) or by the variable KEYWAY_DIR";
        }
        if (e instanceof FileAlreadyExistsException taken) {
            return taken.getFile() + " is not a directory";
        }
        if (e instanceof NoSuchFileException missing) {
            return missing.getFile() + " cannot be made there";
        }
        if (e instanceof FileSystemException failure && failure.getReason() != null) {
            return failure.getReason() + " (" + named(failure) + ")";
        }
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    /** What the exception is about; the file that is made to try the directory is the directory to its user. */
    private static String named(FileSystemException e) {
        String file = String.valueOf(e.getFile());
        return file.contains("/" + PROBE) ? "it" : file;
    }

    private static LockUnavailableException unfit(Path path, String why, @Nullable Throwable cause) {
        return LockFile.unavailable("Cannot use the lock directory " + path + ": " + why, cause);
    }

    /** The directory, without symbolic links anywhere in it. */
    public Path path() {
        return path;
    }

    public Path memberFile() {
        return path.resolve(MEMBER);
    }

    public Path log() {
        return path.resolve(LOG);
    }

    public HostElection election() {
        return new HostElection(path);
    }

    /**
     * Opens clients.lock. Where neither it nor a member file was ever made, this is first use, and a fresh member file
     * says so to the first host; only one process at a time decides that, under host.lock.
     *
     * @param settings of the member that will serve here
     * @throws io.keyway.lock.LockUnavailableException if files are missing while a host lives, or cannot be made
     */
    public ByteLocks clients(MachineFacts facts, MemberSettings settings) {
        return clients(() -> markFirstUse(facts, settings));
    }

    /**
     * As {@link #clients}, for a client that was here before: nothing that is missing makes this first use.
     *
     * @throws io.keyway.lock.LockUnavailableException if clients.lock is missing while a host lives, or cannot be made
     */
    public ByteLocks clientsAgain() {
        return clients(() -> {});
    }

    private ByteLocks clients(Runnable markFirstUse) {
        Path clients = path.resolve(CLIENTS);
        long start = System.nanoTime();
        while (!Files.exists(clients, LinkOption.NOFOLLOW_LINKS)) {
            HostElection.Answer answer = election().tryHost();
            if (answer instanceof HostElection.Hosting hosting) {
                try (hosting) {
                    markFirstUse.run();
                    return ByteLocks.open(clients);
                }
            }
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                String host = ((HostElection.Taken) answer)
                        .info()
                        .map(HostInfo::toString)
                        .orElse("another process");
                throw unfit(
                        path,
                        CLIENTS + " was removed while " + host
                                + " hosts, which it cannot do without; try again, or end that process if that does not "
                                + "help",
                        null);
            }
            LockSupport.parkNanos(2_000_000);
        }
        return ByteLocks.open(clients);
    }

    private void markFirstUse(MachineFacts facts, MemberSettings settings) {
        try {
            boolean firstUse = !Files.exists(memberFile(), LinkOption.NOFOLLOW_LINKS)
                    && !Files.exists(path.resolve(CLIENTS), LinkOption.NOFOLLOW_LINKS);
            if (firstUse) {
                MemberFile.createFresh(memberFile(), facts, settings);
            }
        } catch (IOException e) {
            throw unfit(path, reason(e), e);
        }
    }
}
