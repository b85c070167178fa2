// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;

/** A process that hosts as long as it lives, and never accepts. Printed: "hosting", or "taken". */
final class HostProcess {
    private HostProcess() {}

    @SuppressWarnings("SystemOut") // the line protocol of this process
    public static void main(String[] args) throws IOException, InterruptedException {
        HostElection arbiter = new HostElection(Path.of(args[0]));
        if (!(arbiter.tryHost() instanceof HostElection.Hosting hosting)) {
            System.out.println("taken");
            return;
        }
        Path socket = hosting.socket().orElseThrow();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            hosting.publish(HostInfo.onSocket(socket));
            System.out.println("hosting");
            Thread.currentThread().join();
        }
    }
}
