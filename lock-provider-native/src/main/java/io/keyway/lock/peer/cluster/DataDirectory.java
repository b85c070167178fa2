// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.member.MemberFile;
import io.keyway.lock.peer.member.MemberSettings;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.OsLockStatus;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directory of a cluster's member, and its file: one process at a time. */
final class DataDirectory implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DataDirectory.class);

    private final LocalDirectory directory;
    private final HostElection.Hosting hostLock;
    private final MemberFile file;
    private final MachineFacts facts;

    private DataDirectory(
            LocalDirectory directory, HostElection.Hosting hostLock, MemberFile file, MachineFacts facts) {
        this.directory = directory;
        this.hostLock = hostLock;
        this.file = file;
        this.facts = facts;
    }

    /**
     * Takes the directory, which is made if it is missing.
     *
     * @throws io.keyway.lock.LockUnavailableException if it is not fit
     * @throws IllegalArgumentException if the plan says that the cluster never ran, and the directory that it did
     * @throws IOException if another process uses it, or its file cannot be used
     */
    static DataDirectory open(MemberConfig config, Cells cells, MachineFacts facts) throws IOException {
        LocalDirectory directory = LocalDirectory.open(config.data(), facts);
        HostElection.Answer answer = directory.election().tryHost();
        if (!(answer instanceof HostElection.Hosting hostLock)) {
            String who =
                    answer instanceof HostElection.Taken taken && taken.info().isPresent()
                            ? "process " + taken.info().get().pid()
                            : "another process";
            throw new IOException(directory.path() + " is in use by " + who
                    + ": each member has a data directory of its own, and one process");
        }
        MemberSettings settings = new MemberSettings(
                config.cluster(),
                config.node().toString(),
                cells.membersHash(),
                cells.settingsHash(),
                config.maxTtl(),
                cells.algorithm().id(),
                "",
                config.ids());
        try {
            if (config.init()) {
                init(directory, facts, settings);
            }
            MemberFile file = MemberFile.open(
                    directory.memberFile(), facts, settings, hash -> cells.isRegrouped(hash, config.ids()));
            return new DataDirectory(directory, hostLock, file, facts);
        } catch (IOException | RuntimeException e) {
            hostLock.close();
            throw e;
        }
    }

    private static void init(LocalDirectory directory, MachineFacts facts, MemberSettings settings) throws IOException {
        try {
            MemberFile.createFresh(directory.memberFile(), facts, settings);
        } catch (FileAlreadyExistsException e) {
            throw new IllegalArgumentException(
                    directory.path()
                            + " has a member file: this member has run before, so --init, the word that its cluster "
                            + "never ran, is wrong; start it without",
                    e);
        }
    }

    MemberFile file() {
        return file;
    }

    MachineFacts facts() {
        return facts;
    }

    Path path() {
        return directory.path();
    }

    /** @throws IOException if the directory is no longer this process's alone */
    void check() throws IOException {
        OsLockStatus status = hostLock.status();
        if (status != OsLockStatus.HELD) {
            throw new IOException(directory.path() + "/" + HostElection.LOCK + ": " + status.sentence());
        }
    }

    /** Says which process this is, to whoever tries to use the directory too. */
    void publish(int port) {
        hostLock.publish(HostInfo.onPort(port, HostInfo.newSecret()));
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            LOG.debug("closing the member file failed", e);
        }
        hostLock.close();
    }
}
