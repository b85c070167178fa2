// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.CheckInfo;
import io.keyway.lock.tck.TckConfig;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Checks, in the order of the rules. */
public final class Catalog {
    private final List<CheckSpec> specs;

    private Catalog(List<CheckSpec> specs) {
        this.specs = specs;
    }

    /** The checks of these objects. */
    public static Catalog of(List<?> objects) {
        List<CheckSpec> specs = new ArrayList<>();
        objects.forEach(each -> specs.addAll(specs(each)));
        specs.sort(Comparator.comparingInt(
                        (CheckSpec spec) -> Integer.parseInt(spec.rules().get(0).substring(3)))
                .thenComparing(spec -> spec.id()));
        return new Catalog(List.copyOf(specs));
    }

    List<CheckSpec> all() {
        return specs;
    }

    /** Those that a run makes or gives a reason for. */
    List<CheckSpec> planned(TckConfig config) {
        return specs.stream()
                .filter(spec -> config.profile().includes(spec.check().from()))
                .filter(spec ->
                        config.only().isEmpty() || config.only().stream().anyMatch(spec::named))
                .toList();
    }

    /** The ids of those that a run makes or gives a reason for. */
    public List<String> ids(TckConfig config) {
        return planned(config).stream().map(CheckSpec::id).toList();
    }

    /** What anybody may know of them. */
    public List<CheckInfo> infos() {
        return specs.stream().map(CheckSpec::info).toList();
    }

    /** The checks of one object, in no order. */
    static List<CheckSpec> specs(Object checks) {
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
