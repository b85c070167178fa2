// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.util.Locale;
import java.util.Set;

/** Whether other machines may use a file system too, by the type that the system reports. */
public enum FileSystemKind {
    /** Of one machine. */
    LOCAL,
    /** Other machines share its files, or do not see its locks and sockets. */
    NETWORK,
    /** In no list: whoever uses it is warned. */
    UNKNOWN;

    private static final Set<String> ONE_MACHINE =
            set("ext2 ext3 ext4 xfs btrfs zfs bcachefs f2fs jfs nilfs2 reiserfs tmpfs ramfs overlay aufs "
                    + "ecryptfs fuseblk apfs hfs ufs ffs");
    private static final Set<String> MANY_MACHINES =
            set("nfs nfs4 cifs smb smb2 smb3 smbfs ncpfs afs coda 9p virtiofs ceph lustre gpfs gfs gfs2 "
                    + "ocfs2 beegfs pvfs2 orangefs glusterfs prl_fs vboxsf vmhgfs drvfs acfs afpfs fakeowner "
                    + "fhgfs panfs quobyte wekafs webdav davfs davfs2");
    private static final Set<String> MANY_MACHINES_BY_FUSE =
            set("sshfs glusterfs ceph cephfs ceph-fuse s3fs rclone gcsfuse goofys davfs davfs2 curlftpfs "
                    + "smbnetfs grpcfuse osxfs vmhgfs-fuse juicefs moosefs mfs seaweedfs blobfuse blobfuse2 "
                    + "beegfs gpfs");

    private static Set<String> set(String words) {
        return Set.of(words.split(" ", -1));
    }

    public static FileSystemKind of(String type) {
        String name = type.toLowerCase(Locale.ROOT);
        if (ONE_MACHINE.contains(name)) {
            return LOCAL;
        }
        boolean byFuse = name.startsWith("fuse.") && MANY_MACHINES_BY_FUSE.contains(name.substring(5));
        return byFuse || MANY_MACHINES.contains(name) ? NETWORK : UNKNOWN;
    }
}
