// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.member.LocalDirectory;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.spi.OpenRequest;
import java.nio.file.Path;
import java.util.function.BiConsumer;

/** Opens {@code lock:native:local://}. */
public final class LocalMode {
    private LocalMode() {}

    /** The directory of a URL's locks. */
    public static Path directory(LockUrl url) {
        return LocalDirectory.choose(url.path(), System.getenv(), System.getProperty("user.home", ""));
    }

    /**
     * A client; nothing but the directory is touched before its first request.
     *
     * @throws io.keyway.lock.LockUnavailableException if the directory cannot be used, with the reason
     */
    public static ClientRuntime open(
            OpenRequest request, Algorithm algorithm, BiConsumer<Notice, ClientCell> listener) {
        LockUrl url = request.url();
        if (!url.hosts().isEmpty()) {
            throw new InvalidLockUrlException(
                    url + ": local mode has no hosts; write lock:native:local:// or lock:native:local:///a/directory");
        }
        if (request.get(NativeOptions.HOST) == NativeOptions.Host.PROCESS) {
            HostMain.check(url, HostLauncher.classPath());
        }
        Path directory = directory(url);
        LocalConfig config = LocalConfig.of(
                directory, request.get(NativeOptions.MAX_TTL), algorithm, request.get(CommonOptions.CONNECT_TIMEOUT));
        return new LocalRuntime(
                request.clientName(),
                config,
                request.get(NativeOptions.HOST),
                request.get(NativeOptions.GUARD),
                request.find(CommonOptions.TOKEN_FLOOR).orElse(0L),
                request.time(),
                listener,
                request.get(CommonOptions.CLOSE_TIMEOUT));
    }
}
