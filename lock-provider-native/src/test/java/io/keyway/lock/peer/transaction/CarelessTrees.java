// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.peer.NativeLockProvider;
import io.keyway.lock.spi.Interceptor;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import io.keyway.lock.spi.Request;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.Set;

/** {@code lock:careless://defect?clock=manual}: the lease service in one JVM, whose clients have one defect. */
public final class CarelessTrees implements LockProvider {
    /** What is wrong, and the rule that it breaks. */
    enum Defect {
        NONE(""),
        /** Intentions are granted, and nobody looks at them. */
        INTENTIONS_DO_NOT_COUNT("LK-2001"),
        /** The source's: from some depth on what is above keeps nobody out. */
        DEEP_LEVELS_DO_NOT_COUNT("LK-2001"),
        /** Whoever reads all reads its own name alone. */
        READERS_READ_NOTHING_BELOW("LK-2001"),
        /** Above they say that they read. */
        WRITERS_INTEND_TO_READ("LK-2001"),
        /** One lock of the whole tree. */
        INTENTIONS_EXCLUDE_EACH_OTHER("LK-2002"),
        /** The end of a level above is not heard. */
        LOSSES_ABOVE_ARE_NOT_TOLD("LK-2003"),
        /** Flat locks are elsewhere. */
        TREES_ARE_ANOTHER_STORE("LK-2005"),
        /** A level above is not given back. */
        INTENTIONS_STAY("LK-2006");

        final String rule;

        Defect(String rule) {
            this.rule = rule;
        }
    }

    private final NativeLockProvider behind = new NativeLockProvider();

    /** As discovery needs it. */
    public CarelessTrees() {}

    private static LockUrl url(LockUrl url) {
        return LockUrl.parse("lock:native:mem://" + url.hosts().get(0) + "?clock=manual&maxTtl=15s");
    }

    @Override
    public Set<String> schemes() {
        return Set.of("careless");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo(
                "careless", "1", ProviderInfo.API_LEVEL, behind.info().options());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return behind.features(url(url));
    }

    @Override
    public Scope scope(LockUrl url) {
        return behind.scope(url(url));
    }

    @Override
    public LockClient open(OpenRequest request) {
        String world = request.url().hosts().get(0).toString();
        Defect defect = Defect.valueOf(world.toUpperCase(Locale.ROOT).replace('-', '_'));
        Interceptor between = new Interceptor() {
            @Override
            public LockEngine engine(LockEngine engine) {
                return request.between().engine(altered(LockEngine.class, engine, defect, LockMode.EXCLUSIVE));
            }
        };
        return behind.open(
                new OpenRequest(url(request.url()), request.options(), request.loader(), request.time(), between));
    }

    /** All that is asked goes through here: requests, and what they are told. */
    private static <T> T altered(Class<T> type, T of, Defect defect, LockMode mode) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            LockMode asked = mode;
            for (Object arg : args == null ? new Object[0] : args) {
                asked = arg instanceof Request request ? request.mode() : arg instanceof LockMode m ? m : asked;
            }
            String name = method.getName();
            if (type == LockEngine.Sink.class
                    && defect == Defect.LOSSES_ABOVE_ARE_NOT_TOLD
                    && mode.isIntention()
                    && name.equals("ended")) {
                return null;
            }
            boolean releases = name.equals("release") || name.equals("abandon") || name.equals("releaseWaiting");
            if (type == LockEngine.Hold.class && defect == Defect.INTENTIONS_STAY && mode.isIntention() && releases) {
                return java.util.concurrent.CompletableFuture.completedFuture(io.keyway.lock.spi.Answer.DONE);
            }
            for (int i = 0; args != null && i < args.length; i++) {
                args[i] = altered(args[i], defect, asked);
            }
            try {
                return method.invoke(of, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    private static Object altered(Object arg, Defect defect, LockMode mode) {
        if (arg instanceof Request request) {
            return new Request(
                    request.id(),
                    key(request.key(), defect, mode),
                    mode(mode, defect),
                    request.permits(),
                    request.capacity(),
                    request.ttl(),
                    request.queue(),
                    request.owner(),
                    request.holdAtLeast(),
                    request.perResource(),
                    request.quiet());
        } else if (arg instanceof LockKey key) {
            return key(key, defect, mode);
        } else if (arg instanceof LockMode asked) {
            return mode(asked, defect);
        } else if (arg instanceof LockEngine.Sink sink) {
            return altered(LockEngine.Sink.class, sink, defect, mode);
        } else if (arg instanceof LockEngine.Hold hold && defect == Defect.INTENTIONS_STAY && mode.isIntention()) {
            return altered(LockEngine.Hold.class, hold, defect, mode);
        }
        return arg;
    }

    private static LockKey key(LockKey key, Defect defect, LockMode mode) {
        boolean deep = key.name().segments().size() > 5;
        boolean elsewhere = switch (defect) {
            case INTENTIONS_DO_NOT_COUNT -> mode.isIntention();
            case DEEP_LEVELS_DO_NOT_COUNT -> mode.isIntention() && deep;
            case TREES_ARE_ANOTHER_STORE -> mode.isTree();
            default -> false;
        };
        return elsewhere ? LockKey.lock(key.name() + "~") : key;
    }

    private static LockMode mode(LockMode mode, Defect defect) {
        return switch (defect) {
            case READERS_READ_NOTHING_BELOW -> mode == LockMode.TREE_SHARED ? LockMode.INTENT_SHARED : mode;
            case WRITERS_INTEND_TO_READ -> mode == LockMode.INTENT_EXCLUSIVE ? LockMode.INTENT_SHARED : mode;
            case INTENTIONS_EXCLUDE_EACH_OTHER -> mode.isIntention() ? LockMode.TREE_EXCLUSIVE : mode;
            default -> mode;
        };
    }
}
