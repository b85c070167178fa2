// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** The watchers that a handle keeps, of which it tells nobody how many there are. */
final class Watchers {
    private Watchers() {}

    /** Each with what it watches. */
    static List<String> all(ZooKeeper handle) throws Exception {
        Object manager = called(ZooKeeper.class, handle, "getWatchManager");
        List<String> all = new ArrayList<>();
        for (String kind : List.of("getDataWatches", "getExistWatches", "getChildWatches")) {
            @SuppressWarnings("unchecked")
            Map<String, Set<Watcher>> watches = (Map<String, Set<Watcher>>) called(manager.getClass(), manager, kind);
            synchronized (watches) {
                watches.forEach((path, each) -> each.forEach(one -> all.add(kind + " " + path + " " + one)));
            }
        }
        return all;
    }

    private static Object called(Class<?> type, Object on, String name) throws Exception {
        Method method = type.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(on);
    }
}
