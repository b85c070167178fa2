// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

/** What has become of an operating system lock that this JVM took. Everything but HELD ends what stood on the lock. */
public enum OsLockStatus {
    HELD("the lock is in force"),
    RELEASED("the lock was given back by this process"),
    /** The operating system drops every lock of a process on a file when the process closes any descriptor of it. */
    VANISHED("the operating system no longer has the lock: other code in this JVM opened and closed that file"),
    REPLACED("the file was removed or replaced, so a lock on it says nothing to others");

    private final String sentence;

    OsLockStatus(String sentence) {
        this.sentence = sentence;
    }

    /** Says it in words, without the name of the file. */
    public String sentence() {
        return sentence;
    }
}
