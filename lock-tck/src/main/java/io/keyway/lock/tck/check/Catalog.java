// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.checks.AllChecks;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Every check of the kit, in the order of the rules. */
final class Catalog {
    private Catalog() {}

    static List<CheckSpec> all() {
        List<CheckSpec> specs = new ArrayList<>();
        AllChecks.all().forEach(checks -> specs.addAll(of(checks)));
        specs.sort(Comparator.comparingInt(
                        (CheckSpec spec) -> Integer.parseInt(spec.rules().get(0).substring(3)))
                .thenComparing(spec -> spec.id()));
        return List.copyOf(specs);
    }

    /** The checks of one object, in no order. */
    static List<CheckSpec> of(Object checks) {
        List<CheckSpec> specs = new ArrayList<>();
        for (Method method : checks.getClass().getDeclaredMethods()) {
            Check check = method.getAnnotation(Check.class);
            if (check != null) {
                specs.add(spec(checks, method, check));
            }
        }
        return specs;
    }

    private static CheckSpec spec(Object checks, Method method, Check check) {
        try {
            MethodHandle body = MethodHandles.privateLookupIn(checks.getClass(), MethodHandles.lookup())
                    .unreflect(method)
                    .bindTo(checks);
            return new CheckSpec(CheckSpec.id(check, method.getName()), check, hint(method), body);
        } catch (IllegalAccessException e) {
            throw new LinkageError("a check that cannot be called: " + method, e);
        }
    }

    private static String hint(Method method) {
        Hint hint = method.getAnnotation(Hint.class);
        if (hint == null) {
            throw new LinkageError("a check without a hint: " + method);
        }
        return hint.value();
    }
}
