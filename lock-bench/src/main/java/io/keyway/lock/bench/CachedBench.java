// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A lock that the client has cached, with no server at all: the path that makes no object but the lease. */
@Command(name = "cached", description = "A cached lock of the native provider, beside another Keyway's by --before.")
final class CachedBench implements Callable<Integer> {
    private static final String URL = "lock:native:mem://";

    @Mixin
    private final Scale scale = new Scale(1, 5);

    private final PrintStream out;

    CachedBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        scale.alone(
                out,
                () -> 0,
                Scale.joined(() -> new KeywayContender(URL + "bench"), scale.before(URL + "before"), List.of()));
        return 0;
    }
}
