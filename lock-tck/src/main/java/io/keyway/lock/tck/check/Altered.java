// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.wrap.Proxies;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What stands before an object of a provider and alters what it is handed. */
final class Altered {
    private Altered() {}

    /** The same object, whose calls have other arguments. */
    static <T> T before(Class<T> type, T to, BiFunction<Method, @Nullable Object[], @Nullable Object[]> altered) {
        Proxies.Instead instead = (proxy, method, arguments) -> {
            if (method.getName().equals("unwrap") && ((Class<?>) arguments[0]).isInstance(to)) {
                return Optional.of(to);
            }
            return Proxies.pass(to, method, altered.apply(method, arguments));
        };
        return type.cast(Proxies.of(instead, kinds(type, to.getClass()).toArray(Class<?>[]::new)));
    }

    /** That type, and those under it which the class implements: what it can do beyond is not lost. */
    private static Set<Class<?>> kinds(Class<?> type, @Nullable Class<?> of) {
        Set<Class<?>> kinds = new LinkedHashSet<>(Set.of(type));
        for (Class<?> each = of; each != null; each = each.getSuperclass()) {
            for (Class<?> implemented : each.getInterfaces()) {
                if (type.isAssignableFrom(implemented)) {
                    kinds.add(implemented);
                }
            }
        }
        return kinds;
    }

    /** The same object, one of whose methods is handed other arguments. */
    static <T> T before(
            Class<T> type, T to, String called, java.util.function.UnaryOperator<@Nullable Object[]> altered) {
        return before(
                type,
                to,
                (method, arguments) -> method.getName().equals(called) ? altered.apply(arguments) : arguments);
    }
}
